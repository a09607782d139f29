import { groupBy, sumOf } from '../../base/grouping.ts';
import type { DurationMs } from '../../base/time.ts';
import { type DurationSpread, normalAbove, normalHazard, sigmaOf, usualSpread } from './log-normal.ts';
import type { DurationSummary } from './rollout.ts';

/** An upgrade whose task is running. */
export interface RunningUpgrade {
  readonly stratum: number;
  /** Since its create. */
  readonly ageMs: DurationMs;
}

/** When running upgrades are expected to end. */
export interface ExpectedEnds {
  /** The usual duration of the running upgrades; without any, that of the rollout. */
  readonly usualMs: DurationMs;
  /** For each running upgrade, the chance that it ends within the next millisecond. */
  readonly endsPerMs: readonly number[];
}

/** Durations of ended upgrades, and ages of running ones. */
interface Sample {
  readonly ended: readonly DurationSummary[];
  readonly running: readonly RunningUpgrade[];
  /** What was known before. */
  readonly priorMs: DurationMs;
  readonly expectMs: DurationMs;
}

const { sigma } = usualSpread(1);

/** The prior estimate of a stratum counts as this many ends, because fewer ends say little about the next one. */
export const priorEnds = 10;

// An upgrade that takes longer hangs, and says nothing about the others.
const deviationsMax = 3;

// Each round doubles the number of correct digits.
const rounds = 4;

// An end that no list has shown yet counts as running, and looks like a slow upgrade. So ages lengthen an estimate only up to
// this factor. Otherwise lists would be read more rarely because of it, and more ends would be overlooked.
const knownTimesMax = 1.5;

const fitRounds = 12;

// A few ends show little of how durations vary, and many more show it well.
const priorSpreads = 2;

// Durations that do not vary at all would make the range a step.
const leastDeviation = 0.02;

// 96.5 % of first attempts succeed in real fleets.
const retriedShare = 0.035;

// Beyond three deviations, the known durations do not predict when an upgrade ends.
const unknownBelow = 0.00135;

// A lower chance shows in no figure.
const negligible = 1e-3;

// One end in ten is before the range, and one in ten after it.
const rareShare = 0.1;

// Each point is an eighth further than the one before, from this share of the longest time on.
const gridPoints = 64;
const gridFrom = 3e-4;

/**
 * Estimates how long upgrades take, from ended and from running ones. Short upgrades end first, so the mean of the ended ones
 * would be too short at the start of a rollout. The estimate of a stratum starts at that of the rollout, which starts at the
 * duration that the policy expects.
 */
export function expectEnds({
  running,
  durations,
  expectMs,
}: {
  readonly running: readonly RunningUpgrade[];
  /** By stratum. */
  readonly durations: ReadonlyMap<number, DurationSummary>;
  readonly expectMs: DurationMs;
}): ExpectedEnds {
  const ended = [...durations.values()];
  const ofAllMs = estimateMedian({ ended, running, priorMs: expectMs, expectMs });
  const medianOf = new Map(
    [...groupBy(running, ({ stratum }) => stratum)].map(([stratum, alike]) => {
      const own = durations.get(stratum);
      const sample = { ended: own === undefined ? [] : [own], running: alike, priorMs: ofAllMs, expectMs };
      return [stratum, estimateMedian(sample)];
    }),
  );
  const medians = running.map(({ stratum }) => medianOf.get(stratum) ?? ofAllMs);
  return {
    usualMs: medians.length === 0 ? ofAllMs : sumOf(medians, (each) => each) / medians.length,
    endsPerMs: running.map(({ ageMs }, index) => {
      const deviations = deviationsOf(ageMs, medians[index] ?? ofAllMs);
      return normalHazard(deviations) / (sigma * Math.max(1, ageMs));
    }),
  };
}

/** The most likely median of log-normal durations for a sample, by Newton's method. */
function estimateMedian({ ended, running, priorMs, expectMs }: Sample): DurationMs {
  let medianMs = priorMs;
  for (let round = 0; round < rounds; round += 1) {
    let pull = priorEnds * Math.log(priorMs / medianMs);
    let weight = priorEnds;
    for (const { count, medianMs: endedMs } of ended) {
      pull += count * Math.log(endedMs / medianMs);
      weight += count;
    }
    for (const { ageMs } of running) {
      const deviations = deviationsOf(ageMs, medianMs);
      const hazard = normalHazard(deviations);
      pull += sigma * hazard;
      weight += hazard * (hazard - deviations);
    }
    medianMs *= Math.exp(pull / weight);
  }
  const knownMs = Math.max(expectMs, ...ended.map((each) => each.medianMs));
  return Math.min(medianMs, knownTimesMax * knownMs);
}

/**
 * The most likely durations, from ended and from running upgrades, all of one stratum or adjusted for theirs. The first ends
 * are alike, because only short upgrades have ended by then. The ages of the others correct this, and the estimate of the
 * spread starts at the usual one.
 */
export function fitDurations(
  ended: readonly DurationSummary[],
  agesMs: readonly DurationMs[],
): DurationSpread | undefined {
  const count = sumOf(ended, (each) => each.count);
  if (count === 0) return undefined;
  const ageLogs = agesMs.map((ageMs) => Math.log(Math.max(1, ageMs)));
  const endedLog = sumOf(ended, (each) => each.count * Math.log(each.medianMs)) / count;
  let log = endedLog;
  let deviation: number = sigma;
  for (let round = 0; round < fitRounds; round += 1) {
    // Each running one is expected to end so far above the logarithm of this round. The loop makes no objects: a status of
    // many accounts runs it thousands of times.
    let offsets = 0;
    let squares = 0;
    for (const ageLog of ageLogs) {
      const from = Math.min(deviationsMax, (ageLog - log) / deviation);
      const hazard = normalHazard(from);
      const offset = deviation * hazard;
      offsets += offset;
      squares += offset ** 2 + deviation ** 2 * Math.max(0, 1 + from * hazard - hazard ** 2);
    }
    const moved = (count * (endedLog - log) + offsets) / (count + ageLogs.length);
    log += moved;
    const ofEnded = sumOf(
      ended,
      (each) => each.count * ((each.sigma ?? sigmaOf(each)) ** 2 + (Math.log(each.medianMs) - log) ** 2),
    );
    const ofRunning = squares - 2 * moved * offsets + ageLogs.length * moved ** 2;
    const all = priorSpreads + count + ageLogs.length;
    deviation = Math.sqrt((priorSpreads * sigma ** 2 + ofEnded + ofRunning) / all);
  }
  return { meanMs: Math.exp(log + deviation ** 2 / 2), sigma: deviation };
}

/** An upgrade in flight, of which the end is expected. */
export interface InFlight {
  readonly ageMs: DurationMs;
  /** How long upgrades of its stratum take, in relation to the others. */
  readonly factor: number;
  /** How long until its deadline. */
  readonly deadlineMs: DurationMs;
  /** The latest end: its deadline, and the verification or retry after it. */
  readonly limitMs: DurationMs;
  /** It has run for longer than all known durations. The range then reaches to the latest end. */
  readonly isOverdue: boolean;
  readonly mayRetry: boolean;
}

/**
 * When the last of this many slots becomes free once nothing more starts. At that instant each slot is somewhere in its
 * upgrade, more likely in a long one.
 */
export function expectLastOfBusy(
  spread: DurationSpread,
  {
    slots,
    deadlineMs,
    retryAfterMs,
  }: { readonly slots: number; readonly deadlineMs: DurationMs; readonly retryAfterMs: DurationMs | null },
): LastEnd & { readonly meanMs: DurationMs } {
  const tail = tailOf(spread, { deadlineMs, retryAfterMs });
  const wholeMs = tail.cutMean(deadlineMs);
  const endedIn = (ms: DurationMs) => tail.cutMean(Math.min(ms, deadlineMs)) / wholeMs;
  const one = distributionOf(endedIn, deadlineMs);
  const last = distributionOf(
    (ms) => (endedIn(ms) * tail.retried(ms)) ** slots,
    2 * deadlineMs + (retryAfterMs ?? 0),
  );
  return { ...last, meanMs: one.expectedMs };
}

/** The chances of log-normal durations that end by a deadline. */
function tailOf(
  { meanMs, sigma: given }: DurationSpread,
  { deadlineMs, retryAfterMs }: { readonly deadlineMs: DurationMs; readonly retryAfterMs: DurationMs | null },
) {
  const deviation = Math.max(leastDeviation, given);
  const log = Math.log(Math.max(1, meanMs)) - deviation ** 2 / 2;
  const beyond = (ms: DurationMs) => normalAbove((Math.log(Math.max(1, ms)) - log) / deviation);
  const endedIn = (ms: DurationMs) => (ms >= deadlineMs ? 1 : 1 - beyond(ms));
  return {
    beyond,
    endedIn,
    /** A failed attempt is followed by another. */
    retried: (ms: DurationMs) =>
      retryAfterMs === null ? 1 : 1 - retriedShare * (1 - endedIn(Math.max(0, ms - retryAfterMs))),
    /** The mean of durations that are cut off there. */
    cutMean: (ms: DurationMs) =>
      meanMs * (1 - normalAbove((Math.log(Math.max(1, ms)) - log) / deviation - deviation)) + ms * beyond(ms),
  };
}

/** When the last of some upgrades ends: the mean, and the range in which it ends 4 in 5 times. */
export interface LastEnd {
  readonly expectedMs: DurationMs;
  readonly fromMs: DurationMs;
  readonly toMs: DurationMs;
}

/**
 * When the last of these upgrades ends, from now on. One that runs has not ended at its age, so its duration is one of
 * those that are longer.
 */
export function expectLastEnd(
  spread: DurationSpread,
  {
    running,
    fresh,
    deadlineMs,
    retryAfterMs,
  }: {
    readonly running: readonly InFlight[];
    /** Those that start together, `delayMs` from now on. */
    readonly fresh: { readonly count: number; readonly delayMs: DurationMs };
    readonly deadlineMs: DurationMs;
    /** How long after a failed attempt the next one starts; null: there is none. */
    readonly retryAfterMs: DurationMs | null;
  },
): LastEnd {
  const { beyond, endedIn, retried } = tailOf(spread, { deadlineMs, retryAfterMs });
  const parts = running.map((each) => ({ ...each, left: beyond(each.ageMs / each.factor) }));
  const chanceAt = (ms: DurationMs) => {
    const retriedAt = retried(ms);
    let chance =
      fresh.count === 0 ? 1 : (endedIn(ms - fresh.delayMs) * retried(ms - fresh.delayMs)) ** fresh.count;
    for (const { ageMs, factor, deadlineMs: ownMs, mayRetry, left } of parts) {
      if (chance < negligible) return 0;
      const still =
        ms >= ownMs ? 0 : left < unknownBelow ? 1 - ms / ownMs : beyond((ageMs + ms) / factor) / left;
      chance *= (1 - still) * (mayRetry ? retriedAt : 1);
    }
    return chance;
  };
  const latest = Math.max(
    fresh.count === 0 ? 0 : fresh.delayMs + deadlineMs,
    ...running.map((each) => each.limitMs),
  );
  const end = distributionOf(chanceAt, latest + (retryAfterMs ?? 0) + deadlineMs);
  const limits = running.filter((each) => each.isOverdue).map((each) => each.limitMs);
  return { ...end, toMs: Math.max(end.toMs, ...limits) };
}

/** Mean and range of a duration, from the chance that it is over by then. */
function distributionOf(chanceAt: (ms: DurationMs) => number, latestMs: DurationMs): LastEnd {
  let expectedMs = 0;
  let fromMs: DurationMs | undefined;
  let toMs: DurationMs | undefined;
  let before = { ms: 0, chance: 0 };
  for (let point = 0; point <= gridPoints && before.chance < 0.999; point += 1) {
    const ms = latestMs * gridFrom ** (1 - point / gridPoints);
    const chance = chanceAt(ms);
    expectedMs += (ms - before.ms) * (1 - (chance + before.chance) / 2);
    const reached = (share: number) =>
      before.ms + ((share - before.chance) / (chance - before.chance)) * (ms - before.ms);
    if (fromMs === undefined && chance >= rareShare) fromMs = reached(rareShare);
    if (toMs === undefined && chance >= 1 - rareShare) toMs = reached(1 - rareShare);
    before = { ms, chance };
  }
  return { expectedMs, fromMs: fromMs ?? latestMs, toMs: toMs ?? latestMs };
}

function deviationsOf(ageMs: DurationMs, medianMs: DurationMs): number {
  return Math.min(deviationsMax, Math.log(Math.max(1, ageMs) / medianMs) / sigma);
}
