import { emptyCounts } from '../../rollout/decision/assess.ts';
import { durationBucketOf, summarizeDurations } from '../../rollout/model/duration-buckets.ts';
import type {
  Candidate,
  DurationSummary,
  LaneQueue,
  StoredView,
  StratumSummary,
  WaveSummary,
} from '../../rollout/model/rollout.ts';
import {
  dueAtOf,
  holdsSlot,
  isEnd,
  isLost,
  isOnBuild,
  type Upgrade,
  type UpgradeState,
  weightOf,
} from '../../rollout/model/upgrade.ts';

type Figures = Omit<
  StoredView,
  'rollout' | 'groups' | 'braked' | 'waves' | 'candidates' | 'nextRetryAt' | 'overdue'
>;

/** What is counted and sorted beside the records of one plan, kept up with each change. */
export interface MemoryTally {
  readonly slotsTaken: number;
  domainTaken(domain: number): number;
  waveWeight(wave: number): number;
  add(upgrade: Upgrade): void;
  replace(before: Upgrade, after: Upgrade, changedAt: number | undefined): void;
  /** Pending ones wave by wave, lane by lane, in plan order. */
  pending(): readonly Upgrade[];
  waves(count: number): readonly WaveSummary[];
  figures(): Figures;
  queues(at: {
    readonly now: number;
    readonly frontier: number;
    readonly perLane: number;
  }): Pick<StoredView, 'candidates' | 'nextRetryAt'>;
  overdue(before: number): readonly number[];
}

interface MutableWave {
  readonly counts: Record<UpgradeState, number>;
  weight: number;
  lost: number;
  onBuild: number;
  lastChangeAt: number | null;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

// oxlint-disable-next-line max-lines-per-function -- a model in memory: its methods share one state
export function makeMemoryTally(): MemoryTally {
  const waves: MutableWave[] = [];
  const strata = new Map<string, Mutable<StratumSummary>>();
  const domains = new Map<number, number>();
  const buckets = new Map<number, Map<number, number>>();
  /** By wave, then lane; each in plan order. */
  const pendingLanes: Array<Map<number, Upgrade[]>> = [];
  const timed = new Map<number, Upgrade>();
  const durations = new Map<number, DurationSummary>();
  const learned = { count: 0, sumMs: 0 };
  let slotsTaken = 0;
  // What most views show again, as long as nothing was written between two.
  let shownWaves: readonly WaveSummary[] | undefined;
  let shownFigures: Figures | undefined;

  const waveOf = (wave: number) => {
    waves[wave] ??= { counts: emptyCounts(), weight: 0, lost: 0, onBuild: 0, lastChangeAt: null };
    return waves[wave];
  };

  const count = (upgrade: Upgrade, sign: 1 | -1) => {
    shownWaves = undefined;
    shownFigures = undefined;
    const {
      progress: { state },
      identity: { domains: its },
    } = upgrade;
    const wave = waveOf(upgrade.identity.wave);
    const weight = sign * weightOf(upgrade);
    wave.counts[state] += sign;
    wave.weight = nearZero(wave.weight + weight);
    if (isLost(upgrade)) wave.lost += sign;
    if (isOnBuild(upgrade)) wave.onBuild += sign;
    const place = `${upgrade.identity.stratum}:${upgrade.identity.wave}`;
    const stratum = strata.get(place) ?? emptyStratum(upgrade);
    strata.set(place, stratum);
    stratum.weight = nearZero(stratum.weight + weight);
    const figure = figureOf(state);
    if (figure !== undefined) stratum[figure] += sign;
    if (holdsSlot(state)) {
      slotsTaken += sign;
      for (const domain of its) domains.set(domain, (domains.get(domain) ?? 0) + sign);
    }
  };

  const place = (upgrade: Upgrade) => {
    if (dueAtOf(upgrade) !== undefined) timed.set(upgrade.identity.collectorId, upgrade);
    if (upgrade.progress.state !== 'pending') return;
    pendingLanes[upgrade.identity.wave] ??= new Map();
    const lanes = pendingLanes[upgrade.identity.wave];
    const lane = lanes?.get(upgrade.identity.lane) ?? [];
    lanes?.set(upgrade.identity.lane, lane);
    // Plans come in order, so this is nearly always the end.
    const at = lane.findLastIndex(({ identity: { order } }) => order < upgrade.identity.order) + 1;
    lane.splice(at, 0, upgrade);
  };
  const displace = (upgrade: Upgrade) => {
    timed.delete(upgrade.identity.collectorId);
    if (upgrade.progress.state !== 'pending') return;
    const lane = pendingLanes[upgrade.identity.wave]?.get(upgrade.identity.lane) ?? [];
    const at = lane.findIndex(
      ({ identity: { collectorId } }) => collectorId === upgrade.identity.collectorId,
    );
    if (at >= 0) lane.splice(at, 1);
  };

  const learn = (before: Upgrade, after: Upgrade) => {
    if (before.progress.state !== 'verifying' || after.progress.state !== 'succeeded') return;
    const tookMs = Math.max(0, Math.round(after.progress.endedAt - before.progress.startedAt));
    learned.count += 1;
    learned.sumMs += tookMs;
    const ofStratum = buckets.get(after.identity.stratum) ?? new Map<number, number>();
    const bucket = durationBucketOf(tookMs);
    buckets.set(after.identity.stratum, ofStratum.set(bucket, (ofStratum.get(bucket) ?? 0) + 1));
    const summary = summarizeDurations(ofStratum);
    if (summary !== undefined) durations.set(after.identity.stratum, summary);
  };

  const retries = () =>
    [...timed.values()]
      .filter(({ progress: { state } }) => state === 'retrying')
      .map((upgrade) => ({ upgrade, dueAt: dueAtOf(upgrade) ?? 0 }))
      .sort((a, b) => a.dueAt - b.dueAt || byName(a.upgrade, b.upgrade));

  const countedFigures = (): Figures => ({
    strata: [...strata.values()]
      .filter((s) => s.waiting + s.active + s.succeeded + s.failed > 0 || s.weight !== 0)
      .sort((a, b) => a.stratum - b.stratum || a.wave - b.wave)
      .map((summary) => ({ ...summary })),
    slotsTaken,
    domainsTaken: new Map([...domains].filter(([, taken]) => taken !== 0)),
    learned: {
      count: learned.count,
      meanMs: learned.count === 0 ? 0 : learned.sumMs / learned.count,
    },
    durations: new Map(durations),
  });

  return {
    get slotsTaken() {
      return slotsTaken;
    },
    domainTaken: (domain) => domains.get(domain) ?? 0,
    waveWeight: (wave) => waveOf(wave).weight,
    add: (upgrade) => {
      count(upgrade, 1);
      place(upgrade);
    },
    replace: (before, after, changedAt) => {
      count(before, -1);
      count(after, 1);
      displace(before);
      place(after);
      learn(before, after);
      const wave = waveOf(after.identity.wave);
      if (changedAt !== undefined) wave.lastChangeAt = Math.max(wave.lastChangeAt ?? 0, changedAt);
    },
    pending: () =>
      pendingLanes.flatMap((lanes) =>
        [...lanes].sort(([a], [b]) => a - b).flatMap(([, upgrades]) => upgrades),
      ),
    waves: (size) => {
      if (shownWaves?.length === size) return shownWaves;
      shownWaves = Array.from({ length: size }, (_, wave) => {
        const summary = waveOf(wave);
        return { ...summary, counts: { ...summary.counts } };
      });
      return shownWaves;
    },
    figures: () => {
      shownFigures ??= countedFigures();
      return shownFigures;
    },
    queues: ({ now, frontier, perLane }) => {
      const queues = new Map<number, { retries: Candidate[]; pending: Candidate[] }>();
      const add = (
        kind: keyof Omit<LaneQueue, 'lane'>,
        { identity: { collectorId, lane } }: Upgrade,
        order: number,
      ) => {
        const queue = queues.get(lane) ?? { retries: [], pending: [] };
        if (queue[kind].length >= perLane) return;
        queue[kind].push({ collectorId, order });
        queues.set(lane, queue);
      };
      for (const lanes of pendingLanes.slice(0, frontier + 1)) {
        for (const upgrades of lanes?.values() ?? []) {
          for (const upgrade of upgrades.slice(0, perLane)) add('pending', upgrade, upgrade.identity.order);
        }
      }
      const retrying = retries();
      for (const { upgrade, dueAt } of retrying) if (dueAt <= now) add('retries', upgrade, dueAt);
      return {
        candidates: [...queues].sort(([a], [b]) => a - b).map(([lane, queue]) => ({ lane, ...queue })),
        nextRetryAt: retrying.find(({ dueAt }) => dueAt > now)?.dueAt ?? null,
      };
    },
    overdue: (before) =>
      [...timed.values()]
        .filter((upgrade) => upgrade.progress.state !== 'retrying' && (dueAtOf(upgrade) ?? before) < before)
        .sort((a, b) => (dueAtOf(a) ?? 0) - (dueAtOf(b) ?? 0) || byName(a, b))
        .map(({ identity: { collectorId } }) => collectorId),
  };
}

// Redis sorts what is due at one instant by its text.
function byName(a: Upgrade, b: Upgrade): number {
  return String(a.identity.collectorId) < String(b.identity.collectorId) ? -1 : 1;
}

function figureOf(state: UpgradeState): 'waiting' | 'active' | 'succeeded' | 'failed' | undefined {
  if (state === 'pending' || state === 'retrying') return 'waiting';
  if (state === 'succeeded') return 'succeeded';
  if (state === 'failed' || state === 'timedOut' || state === 'unconfirmed') return 'failed';
  return isEnd(state) || state === 'deferred' ? undefined : 'active';
}

function emptyStratum({ identity: { stratum, wave } }: Upgrade): Mutable<StratumSummary> {
  return { stratum, wave, waiting: 0, active: 0, succeeded: 0, failed: 0, weight: 0 };
}

function nearZero(weight: number): number {
  return Math.abs(weight) < 1e-9 ? 0 : weight;
}
