import { emptyCounts } from '../../../src/rollout/decision/assess.ts';
import { durationBucketOf, summarizeDurations } from '../../../src/rollout/model/duration-buckets.ts';
import type {
  Candidate,
  LaneQueue,
  StoredView,
  StratumSummary,
  WaveSummary,
} from '../../../src/rollout/model/rollout.ts';
import {
  dueAtOf,
  holdsSlot,
  isEnd,
  isLost,
  isOnBuild,
  type Upgrade,
  type UpgradeState,
  weightOf,
} from '../../../src/rollout/model/upgrade.ts';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** What the records of one plan add up to, counted anew: for views that a test writes down. */
export interface Counted extends Pick<StoredView, 'strata' | 'slotsTaken' | 'domainsTaken'> {
  /** By their place in the plan; one of which there is no record is missing. */
  readonly waves: ReadonlyMap<number, Omit<WaveSummary, 'lastChangeAt'>>;
}

export function countUpgrades(upgrades: Iterable<Upgrade>): Counted {
  const waves = new Map<number, Mutable<Omit<WaveSummary, 'lastChangeAt' | 'counts'>> & WaveCounts>();
  const strata = new Map<string, Mutable<StratumSummary>>();
  const domainsTaken = new Map<number, number>();
  let slotsTaken = 0;
  for (const upgrade of upgrades) {
    const { stratum, wave, domains } = upgrade.identity;
    const { state } = upgrade.progress;
    const ofWave = waves.get(wave) ?? { counts: emptyCounts(), weight: 0, lost: 0, onBuild: 0 };
    waves.set(wave, ofWave);
    ofWave.counts[state] += 1;
    ofWave.weight += weightOf(upgrade);
    ofWave.lost += Number(isLost(upgrade));
    ofWave.onBuild += Number(isOnBuild(upgrade));
    const place = `${stratum}:${wave}`;
    const none = { stratum, wave, waiting: 0, active: 0, succeeded: 0, failed: 0, weight: 0 };
    const ofStratum = strata.get(place) ?? none;
    strata.set(place, ofStratum);
    ofStratum.weight += weightOf(upgrade);
    const figure = figureOf(state);
    if (figure !== undefined) ofStratum[figure] += 1;
    if (!holdsSlot(state)) continue;
    slotsTaken += 1;
    for (const domain of domains) domainsTaken.set(domain, (domainsTaken.get(domain) ?? 0) + 1);
  }
  const shown = [...strata.values()]
    .filter((s) => s.waiting + s.active + s.succeeded + s.failed > 0 || s.weight !== 0)
    .sort((a, b) => a.stratum - b.stratum || a.wave - b.wave);
  return { waves, strata: shown, slotsTaken, domainsTaken };
}

/** So many waves, with those that have no record, and when something last changed in each. */
export function wavesOf(
  count: number,
  waves: Counted['waves'],
  { lastChangeAt }: Pick<MemoryHistory, 'lastChangeAt'>,
): readonly WaveSummary[] {
  return Array.from({ length: count }, (_, wave) => ({
    ...(waves.get(wave) ?? { counts: emptyCounts(), weight: 0, lost: 0, onBuild: 0 }),
    lastChangeAt: lastChangeAt.get(wave) ?? null,
  }));
}

interface WaveCounts {
  readonly counts: Record<UpgradeState, number>;
}

function figureOf(state: UpgradeState): 'waiting' | 'active' | 'succeeded' | 'failed' | undefined {
  if (state === 'pending' || state === 'retrying') return 'waiting';
  if (state === 'succeeded') return 'succeeded';
  if (state === 'failed' || state === 'timedOut' || state === 'unconfirmed') return 'failed';
  return isEnd(state) || state === 'deferred' ? undefined : 'active';
}

/** Pending ones wave by wave, lane by lane, in plan order. */
function pendingOf(upgrades: Iterable<Upgrade>): readonly Upgrade[] {
  return [...upgrades]
    .filter(({ progress: { state } }) => state === 'pending')
    .sort(({ identity: a }, { identity: b }) => a.wave - b.wave || a.lane - b.lane || a.order - b.order);
}

/** What may start, lane by lane, and when the next retry may. */
export function queuesOf(
  upgrades: readonly Upgrade[],
  { now, frontier, perLane }: { readonly now: number; readonly frontier: number; readonly perLane: number },
): Pick<StoredView, 'candidates' | 'nextRetryAt'> {
  const queues = new Map<number, { retries: Candidate[]; pending: Candidate[] }>();
  const add = (kind: keyof Omit<LaneQueue, 'lane'>, { identity }: Upgrade, order: number) => {
    const queue = queues.get(identity.lane) ?? { retries: [], pending: [] };
    if (queue[kind].length >= perLane) return;
    queue[kind].push({ collectorId: identity.collectorId, order });
    queues.set(identity.lane, queue);
  };
  for (const upgrade of pendingOf(upgrades))
    if (upgrade.identity.wave <= frontier) add('pending', upgrade, upgrade.identity.order);
  const retrying = upgrades.filter(({ progress: { state } }) => state === 'retrying').sort(byDueAt);
  const dueAts = retrying.map((upgrade) => dueAtOf(upgrade) ?? 0);
  for (const [index, upgrade] of retrying.entries()) {
    const dueAt = dueAts[index] ?? 0;
    if (dueAt <= now) add('retries', upgrade, dueAt);
  }
  return {
    candidates: [...queues].sort(([a], [b]) => a - b).map(([lane, queue]) => ({ lane, ...queue })),
    nextRetryAt: dueAts.find((dueAt) => dueAt > now) ?? null,
  };
}

/** What records no longer tell: when something last changed in a wave, and how long upgrades took. */
export interface MemoryHistory {
  readonly lastChangeAt: ReadonlyMap<number, number>;
  changed(wave: number, at: number): void;
  learn(before: Upgrade, after: Upgrade): void;
  durations(): Pick<StoredView, 'learned' | 'durations'>;
}

export function makeMemoryHistory(): MemoryHistory {
  const lastChangeAt = new Map<number, number>();
  const buckets = new Map<number, Map<number, number>>();
  const learned = { count: 0, sumMs: 0 };
  return {
    lastChangeAt,
    changed: (wave, at) => {
      lastChangeAt.set(wave, Math.max(lastChangeAt.get(wave) ?? 0, at));
    },
    learn: ({ progress: before }, { progress: after, identity: { stratum } }) => {
      if (before.state !== 'verifying' || after.state !== 'succeeded') return;
      const tookMs = Math.max(0, Math.round(after.endedAt - before.startedAt));
      learned.count += 1;
      learned.sumMs += tookMs;
      const ofStratum = buckets.get(stratum) ?? new Map<number, number>();
      const bucket = durationBucketOf(tookMs);
      buckets.set(stratum, ofStratum.set(bucket, (ofStratum.get(bucket) ?? 0) + 1));
    },
    durations: () => ({
      learned: { count: learned.count, meanMs: learned.count === 0 ? 0 : learned.sumMs / learned.count },
      durations: new Map(
        [...buckets].flatMap(([stratum, counts]) => {
          const summary = summarizeDurations(counts);
          return summary === undefined ? [] : [[stratum, summary] as const];
        }),
      ),
    }),
  };
}

// Redis sorts what is due at one instant by its text.
function byDueAt(a: Upgrade, b: Upgrade): number {
  const isFirst = String(a.identity.collectorId) < String(b.identity.collectorId);
  return (dueAtOf(a) ?? 0) - (dueAtOf(b) ?? 0) || (isFirst ? -1 : 1);
}
