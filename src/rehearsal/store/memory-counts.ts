import type { EpochMs } from '../../base/time.ts';
import { emptyCounts, emptyStratum } from '../../rollout/decision/assess.ts';
import { durationBucketOf, summarizeDurations } from '../../rollout/model/duration-buckets.ts';
import type {
  DurationSummary,
  StoredView,
  StratumSummary,
  WaveSummary,
} from '../../rollout/model/rollout.ts';
import {
  holdsSlot,
  isEnd,
  isLost,
  isOnBuild,
  type Upgrade,
  type UpgradeState,
  weightOf,
} from '../../rollout/model/upgrade.ts';
import { learnedMsOf, stratumFigureOf } from '../../rollout/model/upgrade-figures.ts';

type Figures = Pick<StoredView, 'waves' | 'strata' | 'slotsTaken' | 'domainsTaken' | 'learned' | 'durations'>;

type MutableWave = { -readonly [Figure in keyof WaveSummary]: WaveSummary[Figure] } & {
  readonly counts: Record<UpgradeState, number>;
};

/** The counts of one plan, updated with each change. */
export class MemoryCounts {
  slotsTaken = 0;
  /** Until when the starts have used up the pace. */
  pacedUntil: EpochMs = 0;
  readonly #domains = new Map<number, number>();
  readonly #waves: MutableWave[] = [];
  /** By stratum, then wave. An entry is replaced, never changed, because views share it. */
  readonly #strata: Array<Array<StratumSummary | undefined> | undefined> = [];
  #durations = new LearnedDurations();
  // Reused by views until the next change.
  #shown: Figures | undefined;

  /** Counts with the same values, which change on their own. */
  copy(): MemoryCounts {
    const copy = new MemoryCounts();
    copy.slotsTaken = this.slotsTaken;
    copy.pacedUntil = this.pacedUntil;
    for (const [domain, taken] of this.#domains) copy.#domains.set(domain, taken);
    for (const [wave, summary] of this.#waves.entries())
      if (summary !== undefined) copy.#waves[wave] = { ...summary, counts: { ...summary.counts } };
    for (const [stratum, ofStratum] of this.#strata.entries())
      if (ofStratum !== undefined) copy.#strata[stratum] = [...ofStratum];
    copy.#durations = this.#durations.copy();
    return copy;
  }

  domainTaken(domain: number): number {
    return this.#domains.get(domain) ?? 0;
  }

  waveWeight(wave: number): number {
    return this.#waveOf(wave).weight;
  }

  add(upgrade: Upgrade): void {
    this.#count(upgrade, 1);
  }

  replace(before: Upgrade, after: Upgrade): void {
    if (isCountedAlike(before, after)) return;
    this.#count(before, -1);
    this.#count(after, 1);
    this.#durations.learn(before, after);
  }

  /** Notes when the state of a member of the wave changed. */
  noteChange(wave: number, at: number): void {
    const summary = this.#waveOf(wave);
    summary.lastChangeAt = Math.max(summary.lastChangeAt ?? 0, at);
    this.#shown = undefined;
  }

  /** @param waves the number of waves of the rollout */
  show(waves: number): Figures {
    if (this.#shown?.waves.length === waves) return this.#shown;
    this.#shown = {
      waves: Array.from({ length: waves }, (_, wave) => {
        const summary = this.#waveOf(wave);
        return { ...summary, counts: { ...summary.counts } };
      }),
      strata: this.#strata.flatMap((ofStratum) => ofStratum?.filter(isWorthShowing) ?? []),
      slotsTaken: this.slotsTaken,
      domainsTaken: new Map([...this.#domains].filter(([, taken]) => taken !== 0)),
      ...this.#durations.show(),
    };
    return this.#shown;
  }

  #waveOf(wave: number): MutableWave {
    this.#waves[wave] ??= { counts: emptyCounts(), weight: 0, lost: 0, onBuild: 0, lastChangeAt: null };
    return this.#waves[wave];
  }

  #count(upgrade: Upgrade, sign: 1 | -1): void {
    this.#shown = undefined;
    const { progress, identity } = upgrade;
    const wave = this.#waveOf(identity.wave);
    const weight = sign * weightOf(upgrade);
    wave.counts[progress.state] += sign;
    wave.weight = nearZero(wave.weight + weight);
    if (isLost(upgrade)) wave.lost += sign;
    if (isOnBuild(upgrade)) wave.onBuild += sign;
    this.#countStratum(upgrade, sign, weight);
    if (!holdsSlot(progress.state)) return;
    this.slotsTaken += sign;
    for (const domain of identity.domains) this.#domains.set(domain, this.domainTaken(domain) + sign);
  }

  #countStratum({ identity: { stratum, wave }, progress }: Upgrade, sign: 1 | -1, weight: number): void {
    this.#strata[stratum] ??= [];
    const before = this.#strata[stratum][wave] ?? emptyStratum(stratum, wave);
    const summary = { ...before, weight: nearZero(before.weight + weight) };
    const figure = stratumFigureOf(progress.state);
    if (figure !== undefined) summary[figure] += sign;
    this.#strata[stratum][wave] = summary;
  }
}

/** How long upgrades took, by stratum. */
class LearnedDurations {
  readonly #buckets = new Map<number, Map<number, number>>();
  #count = 0;
  #sumMs = 0;
  /** Replaced, never changed, because views share it. */
  #summaries: ReadonlyMap<number, DurationSummary> = new Map();
  /** Strata with new durations since it was made. */
  readonly #learnedIn = new Set<number>();

  copy(): LearnedDurations {
    const copy = new LearnedDurations();
    copy.#count = this.#count;
    copy.#sumMs = this.#sumMs;
    copy.#summaries = this.#summaries;
    for (const [stratum, buckets] of this.#buckets) copy.#buckets.set(stratum, new Map(buckets));
    for (const stratum of this.#learnedIn) copy.#learnedIn.add(stratum);
    return copy;
  }

  learn(before: Upgrade, after: Upgrade): void {
    const tookMs = learnedMsOf(before, after);
    if (tookMs === undefined) return;
    this.#count += 1;
    this.#sumMs += tookMs;
    const { stratum } = after.identity;
    const ofStratum = this.#buckets.get(stratum) ?? new Map<number, number>();
    const bucket = durationBucketOf(tookMs);
    this.#buckets.set(stratum, ofStratum.set(bucket, (ofStratum.get(bucket) ?? 0) + 1));
    this.#learnedIn.add(stratum);
  }

  show(): Pick<StoredView, 'learned' | 'durations'> {
    if (this.#learnedIn.size > 0) {
      const summaries = new Map(this.#summaries);
      for (const stratum of this.#learnedIn) {
        const summary = summarizeDurations(this.#buckets.get(stratum) ?? new Map());
        if (summary !== undefined) summaries.set(stratum, summary);
      }
      this.#learnedIn.clear();
      this.#summaries = summaries;
    }
    const meanMs = this.#count === 0 ? 0 : this.#sumMs / this.#count;
    return { learned: { count: this.#count, meanMs }, durations: this.#summaries };
  }
}

/** True for a step that changes no count. */
function isCountedAlike(before: Upgrade, after: Upgrade): boolean {
  const { state } = before.progress;
  return state === after.progress.state && !isEnd(state) && before.identity === after.identity;
}

function isWorthShowing(summary: StratumSummary | undefined): summary is StratumSummary {
  if (summary === undefined) return false;
  const { weight, waiting, active, succeeded, failed } = summary;
  return weight !== 0 || waiting + active + succeeded + failed > 0;
}

function nearZero(weight: number): number {
  return Math.abs(weight) < 1e-9 ? 0 : weight;
}
