import { compareBuildVersions } from '../../base/build-version.ts';
import type { EpochMs } from '../../base/time.ts';
import type { Build } from '../scenario/scenario.ts';

interface BuildOffer {
  readonly version: string;
  readonly latest: boolean;
  offeredAt: EpochMs;
  withdrawnAt: EpochMs;
}

/** The builds in the order of their release, and when each is on offer. */
export class BuildList {
  #offers: BuildOffer[];

  constructor(builds: readonly Build[], startedAt: EpochMs) {
    this.#offers = builds.map((build) => ({
      version: build.version,
      latest: build.latest,
      offeredAt: build.offered ? startedAt + build.offeredAfter : Infinity,
      withdrawnAt: startedAt + (build.withdrawnAfter ?? Infinity),
    }));
  }

  /** Every build, whether on offer or not. */
  get versions(): readonly string[] {
    return this.#offers.map(({ version }) => version);
  }

  offered(now: EpochMs): readonly string[] {
    return this.#offeredAt(now).map(({ version }) => version);
  }

  /**
   * The latest build is the flagged one, not the highest number (field-facts.md, Upgrades).
   * @returns undefined when nothing is on offer
   */
  latest(now: EpochMs): string | undefined {
    const offered = this.#offeredAt(now);
    return (offered.findLast(({ latest }) => latest) ?? offered.at(-1))?.version;
  }

  withdraw(version: string, now: EpochMs): void {
    for (const offer of this.#offers) if (offer.version === version) offer.withdrawnAt = now;
  }

  /** Offers a build, known or new. */
  offer(version: string, now: EpochMs): void {
    const known = this.#offers.find((offer) => offer.version === version);
    if (known === undefined) {
      this.#offers.push({ version, latest: false, offeredAt: now, withdrawnAt: Infinity });
      return;
    }
    known.offeredAt = now;
    known.withdrawnAt = Infinity;
  }

  /** The builds between two, exclusive, in the order of their release: candidates for an intermediate build. */
  between(from: string, to: string): readonly string[] {
    return this.versions.filter(
      (version) =>
        (compareBuildVersions(version, from) ?? 0) > 0 && (compareBuildVersions(version, to) ?? 0) < 0,
    );
  }

  stored(): BuildOffer[] {
    return this.#offers;
  }

  /** Restores the builds of an earlier run, followed by new ones of the scenario. */
  restore(offers: readonly BuildOffer[]): void {
    const isKnown = ({ version }: BuildOffer) => offers.some((offer) => offer.version === version);
    this.#offers = [...offers, ...this.#offers.filter((offer) => !isKnown(offer))];
  }

  #offeredAt(now: EpochMs): BuildOffer[] {
    return this.#offers.filter((offer) => offer.offeredAt <= now && now < offer.withdrawnAt);
  }
}
