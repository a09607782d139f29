import { sumOf } from '../../base/grouping.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { calendarOfWave, openTimeFrom } from '../calendar/calendar.ts';
import type { CalendarRules } from '../calendar/open-stretches.ts';
import { pacedMs } from '../decision/pace.ts';
import { expectLastEnd, expectLastOfBusy, type InFlight, type LastEnd } from '../model/expected-ends.ts';
import {
  type DurationSpread,
  deviationsOfLast,
  learnedSpread,
  medianOf,
  slowestOf,
  usualSpread,
} from '../model/log-normal.ts';
import type { Policy, WaveRule } from '../model/policy.ts';
import { usualReadings } from '../readings/usual-readings.ts';

/** The remaining work of a wave. */
export interface WaveRemainder {
  readonly upgrades: number;
  /** False if all of them are running: they end in a closed window as well. */
  readonly mayStart: boolean;
  readonly soakMs: DurationMs;
  /** The longest chain of upgrades that a cap makes run one after the other. */
  readonly chain: number;
  /** How long until the next of its retries is due; absent without one. */
  readonly retryWaitMs?: DurationMs;
  /** Those of its upgrades that are running, where their ages are known. */
  readonly running?: readonly InFlight[];
  /** The least time in which its upgrades may start by its pace; absent without one. */
  readonly pacedMs?: DurationMs;
  /** When they may start; absent: by the policy's windows and freezes. */
  readonly calendar?: CalendarRules;
}

export interface Estimate {
  /** null if the windows are too short for the work. */
  readonly endsAt: EpochMs | null;
  /** When the soak of each wave ends; shorter where the windows are too short for the rest. */
  readonly waveEnds: readonly EpochMs[];
  /** Half the range in which the end is expected, without the time in which windows are closed. */
  readonly plusMinusMs: DurationMs;
  readonly requests: number;
  /** Running upgrades that have taken longer than all known ones. */
  readonly overdue: number;
}

// The create, the poll that shows the end, and for one in ten a further poll or retry. List readings are added separately.
const requestsPerUpgrade = 2.1;

// The slots, the rate and the mix of the fleet are not as assumed. A quarter fits most fleets, where durations vary less.
const uncertainty = 0.25;

// Four in five values are within so many standard deviations.
const fourInFive = 1.28;

// 96.5 % of first attempts succeed in real fleets, so one of this many is retried.
const retriedOfLast = 1 / 0.035;

// Fewer durations than this predict little.
export const learnedMin = 5;

/** A verification usually takes this share of the time that it may take. */
export const usualVerifyShare = 1 / 30;

/** How long completed upgrades took, from create to verification. */
export interface LearnedDurations {
  readonly count: number;
  readonly meanMs: DurationMs;
  /** If unknown, durations are assumed to vary as they usually do. */
  readonly p95Ms?: DurationMs;
}

/**
 * Estimates when these waves end, one after the other, and how many requests they need. Each wave is limited by its
 * slots, its longest chain under a cap, or the request rate, and ends with its slowest upgrade. Upgrades start only in
 * windows that are open for as long as an upgrade is expected to take; the soak is wall-clock time.
 */
export function estimateRemainder(
  remainders: readonly WaveRemainder[],
  policy: Policy,
  span: {
    readonly from: EpochMs;
    readonly requestsPerSecond: number;
    /** Number of collectors in the account, which sets the number of list pages. */
    readonly fleetSize: number;
    readonly learned?: LearnedDurations;
    /** How long a window has to be open for a start (P7). Default: as long as the policy expects. */
    readonly startNeedsMs?: DurationMs;
  },
): Estimate {
  const spread = spreadOf(policy, span.learned);
  const { meanMs } = spread;
  const usualMs = medianOf(spread);
  const { startNeedsMs = policy.upgrade.expectMs } = span;
  const works = remainders.map((remainder) => {
    const { upgrades, mayStart, chain, soakMs, pacedMs = 0, calendar = policy } = remainder;
    const lastOnes = Math.min(upgrades, policy.concurrency);
    const plan = { mayStart, soakMs, calendar, lastOnes };
    if (upgrades === 0) return { ...plan, workMs: 0, spreadMs: 0, requests: 0 };
    const slotBoundMs = (upgrades / policy.concurrency) * meanMs;
    const ownRequests = upgrades * requestsPerUpgrade;
    const readings = usualReadings({ ...span, upgrades, slots: policy.concurrency, usualMs });
    const rateBoundMs = ownRequests / (span.requestsPerSecond / 1_000 - readings.requestsPerMs);
    const busyMs = Math.max(slotBoundMs, rateBoundMs, chain * meanMs, pacedMs);
    const slowestMs = slowestOfLast(remainder, policy, spread);
    const boundMs = Math.max(rateBoundMs, pacedMs);
    const { workMs, spreadMs } = workOf(remainder, policy, { spread, busyMs, slowestMs, boundMs });
    // The fewer run, the more rarely lists are read.
    const readMs = busyMs + (slowestMs - meanMs) / 2;
    const requests = ownRequests + readings.requestsPerMs * readMs;
    return { ...plan, workMs, spreadMs, requests };
  });
  const waveEnds = scheduleWork(works, { from: span.from, startNeedsMs });
  return {
    endsAt: waveEnds.length < works.length ? null : (waveEnds.at(-1) ?? span.from),
    waveEnds,
    plusMinusMs: Math.round(plusMinusOf(works, spread, span.learned)),
    requests: Math.round(sumOf(works, ({ requests }) => requests)),
    overdue: sumOf(remainders, ({ running = [] }) => running.filter((each) => each.isOverdue).length),
  };
}

/** The expected duration of the slowest of those that run last, until the deadline. */
function slowestOfLast({ upgrades }: WaveRemainder, policy: Policy, spread: DurationSpread): DurationMs {
  const lastOnes = Math.min(upgrades, policy.concurrency);
  return Math.max(spread.meanMs, Math.min(policy.upgrade.deadlineMs, slowestOf(spread, lastOnes)));
}

/** How long a wave is worked on, and by how much that may be wrong in 4 of 5 cases. */
function workOf(
  { upgrades, chain, retryWaitMs, running = [] }: WaveRemainder,
  policy: Policy,
  {
    spread,
    busyMs,
    slowestMs,
    boundMs,
  }: {
    readonly spread: DurationSpread;
    readonly busyMs: DurationMs;
    readonly slowestMs: DurationMs;
    /** The least time by the request rate and the pace. */
    readonly boundMs: DurationMs;
  },
): { readonly workMs: DurationMs; readonly spreadMs: DurationMs } {
  const { meanMs } = spread;
  const { concurrency, retry, upgrade } = policy;
  const lastOnes = Math.min(upgrades, concurrency);
  const retryAfterMs = retry.maxAttempts > 1 ? retry.backoff.initialMs : null;
  const endOf = (of: readonly InFlight[], count: number, delayMs = 0): LastEnd =>
    expectLastEnd(spread, {
      running: of,
      fresh: { count, delayMs },
      deadlineMs: upgrade.deadlineMs,
      retryAfterMs,
    });
  const others = Math.max(0, upgrades - running.length);
  const isAllAtFirst = upgrades <= concurrency;
  const mayAllStart = isAllAtFirst && chain <= 1 && boundMs <= meanMs;
  if (running.length > 0 && (others === 0 || mayAllStart)) {
    const { expectedMs, fromMs, toMs } = endOf(running, others, retryWaitMs);
    return { workMs: expectedMs, spreadMs: Math.max(expectedMs - fromMs, toMs - expectedMs) };
  }
  const retryMs = retryAfterMs !== null && lastOnes >= retriedOfLast ? retryAfterMs + meanMs : 0;
  // A retry that is not due yet ends after all others where these are few.
  const retriedMs = retryWaitMs === undefined ? 0 : retryWaitMs + meanMs;
  const runningEnd = running.length === 0 ? undefined : endOf(running, 0);
  const last = isAllAtFirst
    ? { ...endOf([], lastOnes), meanMs }
    : expectLastOfBusy(spread, { slots: lastOnes, deadlineMs: upgrade.deadlineMs, retryAfterMs });
  const slowMs = slowestMs - meanMs + retryMs;
  // Where slots start at different instants, most are far into their upgrades when nothing more starts, however slow the
  // slowest may be.
  const lastMs = isAllAtFirst ? slowMs : Math.min(slowMs, last.expectedMs - last.meanMs);
  const workMs = Math.max(busyMs + lastMs, retriedMs, runningEnd?.expectedMs ?? 0);
  const centerMs = lastMs + last.meanMs;
  const lastSpreadMs = Math.max(centerMs - last.fromMs, last.toMs - centerMs);
  // A sum of durations varies by the root of their number.
  const isChained = chain > 1 && busyMs <= chain * meanMs;
  const inTurn = isChained ? chain : isAllAtFirst || busyMs <= boundMs ? 0 : upgrades / concurrency ** 2;
  const sumMs = fourInFive * deviationOf(spread) * Math.sqrt(inTurn);
  return { workMs, spreadMs: Math.max(Math.hypot(lastSpreadMs, sumMs), (runningEnd?.toMs ?? 0) - workMs) };
}

/**
 * Half the range. What is learned of few ends may be wrong for all of the work: the mean, and more so the spread, by which
 * the last of many ends. Each wave varies by itself, so those do not add up.
 */
function plusMinusOf(
  works: ReadonlyArray<{
    readonly workMs: DurationMs;
    readonly spreadMs: DurationMs;
    readonly lastOnes: number;
  }>,
  { sigma }: DurationSpread,
  learned: LearnedDurations | undefined,
): DurationMs {
  const ends = learned?.count ?? 0;
  const wrongMs = sumOf(works, ({ workMs, lastOnes }) => {
    if (ends < learnedMin) return 0;
    // Errors of the mean and of the spread, whose variance is half that of the mean.
    return workMs * fourInFive * sigma * Math.sqrt((1 + deviationsOfLast(lastOnes) ** 2 / 2) / ends);
  });
  const allMs = sumOf(works, ({ workMs }) => workMs);
  return Math.max(allMs * uncertainty, Math.hypot(wrongMs, ...works.map(({ spreadMs }) => spreadMs)));
}

/** The standard deviation of single durations. */
function deviationOf({ meanMs, sigma }: DurationSpread): DurationMs {
  return meanMs * Math.sqrt(Math.exp(sigma ** 2) - 1);
}

/** What pace and own calendars of waves mean for an estimate. `succeeded`, `starts`: of each wave, so far and to come. */
export function limitsOfWaves(
  policy: Policy,
  waves: ReadonlyArray<{ readonly rule: WaveRule; readonly succeeded: number; readonly starts: number }>,
): ReadonlyArray<Pick<WaveRemainder, 'pacedMs' | 'calendar'>> {
  // Those of earlier waves have succeeded by the time a wave starts.
  let before = sumOf(waves, ({ succeeded }) => succeeded);
  return waves.map(({ rule, succeeded, starts }) => {
    const pace = rule.pace ?? policy.pace;
    const from = { succeeded: rule.pace === undefined ? before : succeeded, starts: Math.max(0, starts) };
    before += from.starts;
    return {
      ...(pace !== undefined && { pacedMs: pacedMs(pace, from) }),
      calendar: calendarOfWave(policy, rule),
    };
  });
}

/** The spread of durations. `expectMs` is a median; the mean is longer because durations are skewed. */
export function spreadOf({ upgrade }: Policy, learned: LearnedDurations | undefined): DurationSpread {
  const usual = usualSpread(upgrade.expectMs);
  if (learned === undefined || learned.count < learnedMin)
    return { ...usual, meanMs: usual.meanMs + upgrade.verifyWithinMs * usualVerifyShare };
  const { meanMs, p95Ms } = learned;
  return p95Ms === undefined ? { ...usual, meanMs } : learnedSpread(meanMs, p95Ms);
}

/**
 * Places the work of each wave in open windows, followed by its soak.
 * @returns the end of each wave, as far as there are windows
 */
function scheduleWork(
  works: ReadonlyArray<
    Pick<WaveRemainder, 'mayStart' | 'soakMs'> & {
      readonly workMs: DurationMs;
      readonly calendar: CalendarRules;
    }
  >,
  span: { readonly from: EpochMs; readonly startNeedsMs: DurationMs },
): readonly EpochMs[] {
  const ends: EpochMs[] = [];
  let at = span.from;
  for (const { mayStart, workMs, soakMs, calendar } of works) {
    // The policy's zone stands for those of its collectors.
    const workedAt = mayStart
      ? openTimeFrom(calendar, '', at, { workMs, leastMs: span.startNeedsMs })
      : at + workMs;
    if (workedAt === null) break;
    at = Math.round(workedAt + soakMs);
    ends.push(at);
  }
  return ends;
}
