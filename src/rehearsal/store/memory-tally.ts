import { emptyCounts, emptyStratum } from '../../rollout/decision/assess.ts';
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
import { learnedMsOf, stratumFigureOf } from '../../rollout/model/upgrade-figures.ts';

type Figures = Omit<
  StoredView,
  'rollout' | 'groups' | 'braked' | 'waves' | 'candidates' | 'nextRetryAt' | 'overdue'
>;

/** The counts and sorted sets of one plan, updated with each change. */
export interface MemoryTally {
  readonly slotsTaken: number;
  domainTaken(domain: number): number;
  waveWeight(wave: number): number;
  add(upgrade: Upgrade): void;
  replace(before: Upgrade, after: Upgrade, changedAt: number | undefined): void;
  /** Pending upgrades by wave, then lane, in plan order. */
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

type MutableWave = { -readonly [Figure in keyof WaveSummary]: WaveSummary[Figure] } & {
  readonly counts: Record<UpgradeState, number>;
};

// oxlint-disable-next-line max-lines-per-function -- a model in memory: its methods share one state
export function makeMemoryTally(): MemoryTally {
  const waves: MutableWave[] = [];
  /** Summaries by stratum, then wave. An entry is replaced, never changed, because views share it. */
  const strata: Array<Array<StratumSummary | undefined> | undefined> = [];
  const domains = new Map<number, number>();
  const buckets = new Map<number, Map<number, number>>();
  /** By lane, then wave; each in plan order. */
  const pendingLanes: Array<Array<Upgrade[] | undefined> | undefined> = [];
  const timed = new Map<number, Upgrade>();
  /** Replaced, never changed, because views share it. */
  let durations: ReadonlyMap<number, DurationSummary> = new Map();
  /** Strata with new durations since it was made. */
  const learnedIn = new Set<number>();
  const learned = { count: 0, sumMs: 0 };
  let slotsTaken = 0;
  // Reused by views until the next write.
  let shownWaves: readonly WaveSummary[] | undefined;
  let shownFigures: Figures | undefined;
  let shownLanes: { frontier: number; perLane: number; queues: Array<LaneQueue | undefined> } | undefined;

  const waveOf = (wave: number) => {
    waves[wave] ??= { counts: emptyCounts(), weight: 0, lost: 0, onBuild: 0, lastChangeAt: null };
    return waves[wave];
  };

  const count = (upgrade: Upgrade, sign: 1 | -1) => {
    shownWaves = undefined;
    shownFigures = undefined;
    const { progress, identity } = upgrade;
    const wave = waveOf(identity.wave);
    const weight = sign * weightOf(upgrade);
    wave.counts[progress.state] += sign;
    wave.weight = nearZero(wave.weight + weight);
    if (isLost(upgrade)) wave.lost += sign;
    if (isOnBuild(upgrade)) wave.onBuild += sign;
    countStratum(upgrade, sign, weight);
    if (holdsSlot(progress.state)) {
      slotsTaken += sign;
      for (const domain of identity.domains) domains.set(domain, (domains.get(domain) ?? 0) + sign);
    }
  };

  const countStratum = ({ identity, progress }: Upgrade, sign: 1 | -1, weight: number) => {
    strata[identity.stratum] ??= [];
    const ofStratum = strata[identity.stratum] ?? [];
    const { stratum, wave } = identity;
    const before = ofStratum[wave] ?? emptyStratum(stratum, wave);
    const summary = { ...before, weight: nearZero(before.weight + weight) };
    const figure = stratumFigureOf(progress.state);
    if (figure !== undefined) summary[figure] += sign;
    ofStratum[wave] = summary;
  };

  /** The pending upgrades of its lane and wave, for a change. */
  const pendingBeside = ({ identity: { lane, wave } }: Upgrade): Upgrade[] => {
    pendingLanes[lane] ??= [];
    const waves = pendingLanes[lane] ?? [];
    waves[wave] ??= [];
    if (shownLanes !== undefined) shownLanes.queues[lane] = undefined;
    return waves[wave];
  };

  const place = (upgrade: Upgrade) => {
    if (dueAtOf(upgrade) !== undefined) timed.set(upgrade.identity.collectorId, upgrade);
    const { state } = upgrade.progress;
    if (state !== 'pending' && state !== 'retrying') return;
    const members = pendingBeside(upgrade);
    if (state === 'retrying') return;
    // Plans are added in order, so this is nearly always the end.
    const at = members.findLastIndex(({ identity: { order } }) => order < upgrade.identity.order) + 1;
    members.splice(at, 0, upgrade);
  };
  const displace = (upgrade: Upgrade) => {
    timed.delete(upgrade.identity.collectorId);
    if (upgrade.progress.state !== 'pending') return;
    const members = pendingBeside(upgrade);
    const at = members.findIndex(
      ({ identity: { collectorId } }) => collectorId === upgrade.identity.collectorId,
    );
    if (at >= 0) members.splice(at, 1);
  };

  const learn = (before: Upgrade, after: Upgrade) => {
    const tookMs = learnedMsOf(before, after);
    if (tookMs === undefined) return;
    learned.count += 1;
    learned.sumMs += tookMs;
    const ofStratum = buckets.get(after.identity.stratum) ?? new Map<number, number>();
    const bucket = durationBucketOf(tookMs);
    buckets.set(after.identity.stratum, ofStratum.set(bucket, (ofStratum.get(bucket) ?? 0) + 1));
    learnedIn.add(after.identity.stratum);
  };

  /** Every lane with its pending upgrades, in waves up to the frontier. */
  const pendingQueues = (of: {
    readonly frontier: number;
    readonly perLane: number;
  }): readonly LaneQueue[] => {
    if (shownLanes?.frontier !== of.frontier || shownLanes.perLane !== of.perLane)
      shownLanes = { ...of, queues: [] };
    const { queues } = shownLanes;
    return Array.from({ length: pendingLanes.length }, (_, lane) => {
      const known = queues[lane];
      if (known !== undefined) return known;
      const first = (pendingLanes[lane] ?? [])
        .slice(0, of.frontier + 1)
        .flatMap((members) => members?.slice(0, of.perLane) ?? [])
        .slice(0, of.perLane);
      const pending = first.map(({ identity: { collectorId, order } }) => ({ collectorId, order }));
      const queue = { lane, retries: [], pending };
      queues[lane] = queue;
      return queue;
    });
  };

  const retries = () =>
    [...timed.values()]
      .filter(({ progress: { state } }) => state === 'retrying')
      .map((upgrade) => ({ upgrade, dueAt: dueAtOf(upgrade) ?? 0 }))
      .sort((a, b) => a.dueAt - b.dueAt || byName(a.upgrade, b.upgrade));

  const summarizedDurations = () => {
    if (learnedIn.size === 0) return durations;
    const summaries = new Map(durations);
    for (const stratum of learnedIn) {
      const summary = summarizeDurations(buckets.get(stratum) ?? new Map());
      if (summary !== undefined) summaries.set(stratum, summary);
    }
    learnedIn.clear();
    durations = summaries;
    return durations;
  };

  const shownStrata = () => {
    const shown: StratumSummary[] = [];
    for (const ofStratum of strata)
      for (const each of ofStratum ?? [])
        if (
          each !== undefined &&
          (each.weight !== 0 || each.waiting + each.active + each.succeeded + each.failed > 0)
        )
          shown.push(each);
    return shown;
  };

  const countedFigures = (): Figures => ({
    strata: shownStrata(),
    slotsTaken,
    domainsTaken: new Map([...domains].filter(([, taken]) => taken !== 0)),
    learned: {
      count: learned.count,
      meanMs: learned.count === 0 ? 0 : learned.sumMs / learned.count,
    },
    durations: summarizedDurations(),
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
      if (!isCountedAlike(before, after)) {
        count(before, -1);
        count(after, 1);
      }
      displace(before);
      place(after);
      learn(before, after);
      const wave = waveOf(after.identity.wave);
      if (changedAt !== undefined) wave.lastChangeAt = Math.max(wave.lastChangeAt ?? 0, changedAt);
    },
    pending: () => waves.flatMap((_, wave) => pendingLanes.flatMap((ofLane) => ofLane?.[wave] ?? [])),
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
      const retrying = retries();
      const due = new Map<number, Candidate[]>();
      for (const { upgrade, dueAt } of retrying) {
        if (dueAt > now) break;
        const { lane, collectorId } = upgrade.identity;
        const ofLane = due.get(lane) ?? [];
        if (ofLane.length < perLane) ofLane.push({ collectorId, order: dueAt });
        due.set(lane, ofLane);
      }
      const candidates: LaneQueue[] = [];
      for (const [lane, queue] of pendingQueues({ frontier, perLane }).entries()) {
        const retriesDue = due.get(lane);
        if (retriesDue !== undefined) candidates.push({ ...queue, retries: retriesDue });
        else if (queue.pending.length > 0) candidates.push(queue);
      }
      return { candidates, nextRetryAt: retrying.find(({ dueAt }) => dueAt > now)?.dueAt ?? null };
    },
    overdue: (before) =>
      [...timed.values()]
        .filter((upgrade) => upgrade.progress.state !== 'retrying' && (dueAtOf(upgrade) ?? before) < before)
        .sort((a, b) => (dueAtOf(a) ?? 0) - (dueAtOf(b) ?? 0) || byName(a, b))
        .map(({ identity: { collectorId } }) => collectorId),
  };
}

// Redis sorts members with the same score by name.
function byName(a: Upgrade, b: Upgrade): number {
  return String(a.identity.collectorId) < String(b.identity.collectorId) ? -1 : 1;
}

/** True for a step that changes no count. */
function isCountedAlike(before: Upgrade, after: Upgrade): boolean {
  const { state } = before.progress;
  return state === after.progress.state && !isEnd(state) && before.identity === after.identity;
}

function nearZero(weight: number): number {
  return Math.abs(weight) < 1e-9 ? 0 : weight;
}
