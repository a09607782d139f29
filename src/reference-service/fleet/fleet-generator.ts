import type { EpochMs } from '../../base/time.ts';
import { dayMs } from '../../base/time-zone.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';
import { makeRandom, type Random } from '../scenario/random.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { drawCollectorName } from './collector-names.ts';
import { drawOperatingSystem } from './operating-systems.ts';
import type { CollectorFacts, CollectorLife, SimulatedCollector } from './simulated-collector.ts';

/** Ids have nine digits, as in the real service. */
const firstIdOfAll = 100_000_001;

/**
 * Draws a collector that registers itself; undefined: it is drawn from the seed.
 * @param index counts the collectors of the account, from 0
 */
export type DrawCollector = (index: number, now: EpochMs) => SimulatedCollector | undefined;

/** Draws collectors one by one, each from the seed and its index only. */
export class FleetGenerator {
  readonly #fleet: Pick<Scenario['fleet'], 'seed' | 'shares'>;
  readonly #builds: readonly string[];
  readonly firstId: number;
  readonly #draw: DrawCollector | undefined;
  #index = 0;

  /**
   * @param builds in the order of their release, the latest one last
   * @param options `draw`: takes the place of the draw
   */
  constructor(
    fleet: Pick<Scenario['fleet'], 'seed' | 'shares'>,
    builds: readonly string[],
    { idOffset = 0, draw }: { readonly idOffset?: number; readonly draw?: DrawCollector | undefined } = {},
  ) {
    this.#fleet = fleet;
    this.#builds = builds;
    this.#draw = draw;
    this.firstId = firstIdOfAll + idOffset;
  }

  get drawnCount(): number {
    return this.#index;
  }

  /** Continues after an earlier run of the service. */
  skipTo(drawnCount: number): void {
    this.#index = drawnCount;
  }

  /** @param isTaken names are unique in an account */
  next(now: EpochMs, isTaken: (name: string) => boolean): SimulatedCollector {
    const index = this.#index++;
    const given = this.#draw?.(index, now);
    if (given !== undefined) return given;
    const unique = (drawn: string) => (isTaken(drawn) ? `${drawn.slice(0, 110)}-${index}` : drawn);
    const random = makeRandom(`fleet:${this.#fleet.seed}:${index}`);
    const { shares } = this.#fleet;
    const id = this.firstId + index;
    if (random.chance(shares.hosted))
      return hosted(id, unique(drawCollectorName(random, index, 'hosted')), now);
    const container = random.chance(shares.container);
    // Containers are ephemeral, so the other collectors have the rest of the share.
    const otherEphemeral = Math.max(0, (shares.ephemeral - shares.container) / (1 - shares.container || 1));
    const ephemeral = container || random.chance(otherEphemeral);
    const os = drawOperatingSystem(random, container ? { windows: 0, mac: 0, oldOs: 0 } : shares);
    const name = unique(drawCollectorName(random, index, container ? 'container' : os.family));
    const facts: CollectorFacts = {
      id,
      name: ephemeral && !container && random.chance(0.25) ? `${name}-${reRegistered(random)}` : name,
      collectorType: 'Installable',
      ephemeral,
      sourceSyncMode: container || random.chance(jsonShare(shares)) ? 'Json' : 'UI',
      targetCpu: random.chance(0.7) ? -1 : random.integer(10, 80),
      cutoffTimestamp: 0,
      ...drawMetadata(random, shares, name),
      osName: os.name,
      osVersion: os.version,
      osArch: os.arch,
      ...(random.chance(0.9) ? { unknown: { installedCollectorSubtype: 'Installed' } } : {}),
    };
    const version = drawVersion(random, shares, this.#builds);
    return {
      facts,
      showsOsTime: random.chance(0.5),
      life: drawLife(random, { now, version, ephemeral, dead: random.chance(shares.dead) }),
      pending: [],
    };
  }
}

/** Containers are all in JSON mode, so the other collectors have the rest of the share. */
function jsonShare(shares: Scenario['fleet']['shares']): number {
  return Math.max(0, (shares.json - shares.container) / (1 - shares.container || 1));
}

/** The suffix of a collector that registered again: the instant (field-facts.md, Upgrades). */
function reRegistered(random: Random): number {
  return random.integer(1_600_000_000_000, 1_760_000_000_000);
}

function hosted(id: number, name: string, now: EpochMs): SimulatedCollector {
  return {
    facts: { id, name, collectorType: 'Hosted', ephemeral: false },
    showsOsTime: false,
    life: { kind: 'up', upSince: now, version: '' },
    pending: [],
  };
}

function drawMetadata(random: Random, shares: Scenario['fleet']['shares'], name: string) {
  const environment = random.pick(['prod', 'prod', 'staging', 'dev']);
  const role = random.pick(['web/nginx', 'web/apache', 'api', 'db/postgres', 'batch']);
  const zone = random.next();
  return {
    ...(random.chance(shares.category) ? { category: `${environment}/${role}` } : {}),
    ...(random.chance(0.2) ? { description: `${environment} ${role}` } : {}),
    ...(random.chance(0.8) ? { hostName: name.slice(0, serviceLimits.hostNameLengthMax) } : {}),
    ...(random.chance(shares.fields) ? { fields: drawFields(random, environment) } : {}),
    ...(zone < 0.15 ? {} : { timeZone: zone < 0.7 ? 'Etc/UTC' : drawTimeZone(random) }),
  };
}

function drawFields(random: Random, environment: string): Record<string, string> {
  return {
    environment,
    ...(random.chance(0.7) ? { team: random.pick(['payments', 'search', 'platform', 'data']) } : {}),
    ...(random.chance(0.5) ? { cluster: `${environment}-${random.integer(1, 12)}` } : {}),
    ...(random.chance(0.1) ? { _budget: 'standard' } : {}),
  };
}

function drawTimeZone(random: Random): string {
  return random.pick(['America/Los_Angeles', 'Europe/Berlin', 'Asia/Tokyo', 'Australia/Sydney']);
}

/** Draws the collector's build: near the latest, within a year, up to three years old, or older. */
function drawVersion(random: Random, shares: Scenario['fleet']['shares'], builds: readonly string[]): string {
  const draw = random.next();
  let edge = shares.unparsableVersion;
  if (draw < edge) return random.pick(['', 'unknown', '19.x-dev']);
  edge += shares.aboveLatest;
  if (draw < edge) return aboveLatest(builds.at(-1) ?? '');
  edge += shares.latestOrOneBehind;
  if (draw < edge) return buildBehind(random, builds, { from: 0, to: 1 });
  edge += shares.withinOneYear;
  if (draw < edge) return buildBehind(random, builds, { from: 2, to: 3 });
  edge += shares.oneToThreeYears;
  if (draw < edge) return buildBehind(random, builds, { from: 4, to: 8 });
  return buildBehind(random, builds, { from: 9, to: Math.max(9, builds.length - 1) });
}

/** Counted back from the latest build. A list that is too short gives its oldest. */
function buildBehind(random: Random, builds: readonly string[], range: { from: number; to: number }): string {
  const behind = random.integer(range.from, range.to);
  return builds[Math.max(0, builds.length - 1 - behind)] ?? '';
}

/** A build that was never on offer here, such as a preview or another deployment's release. */
function aboveLatest(latest: string): string {
  return latest.replace(/\.(\d+)-\d+$/, (_text, minor: string) => `.${Number(minor) + 4}-1`);
}

function drawLife(
  random: Random,
  drawn: { now: EpochMs; version: string; ephemeral: boolean; dead: boolean },
): CollectorLife {
  const { now, version } = drawn;
  if (!drawn.dead) return { kind: 'up', upSince: now - random.integer(0, 60 * dayMs), version };
  // An ephemeral collector that is dead for more than 12 hours would be deleted.
  const awayMaxMs = drawn.ephemeral ? serviceLimits.ephemeralDeletedAfterMs - 3_600_000 : 200 * dayMs;
  const awayMs = random.integer(serviceLimits.deadAfterMs + 60_000, awayMaxMs);
  return { kind: 'down', lastHeartbeatAt: now - awayMs, version };
}
