import { sumOf } from '../../base/grouping.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { calendarOfWave, openTimeFrom } from '../calendar/calendar.ts';
import type { CalendarRules } from '../calendar/open-stretches.ts';
import { pacedMs } from '../decision/pace.ts';
import { type DurationSpread, learnedSpread, medianOf, slowestOf, usualSpread } from '../model/log-normal.ts';
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
}

// The create, the poll that shows the end, and for one in ten a further poll or retry. List readings are added separately.
const requestsPerUpgrade = 2.1;

// Single durations vary more than this; sums over many slots vary less. A quarter fits most fleets.
const uncertainty = 0.25;

// 96.5 % of first attempts succeed in real fleets, so one of this many is retried.
const retriedOfLast = 1 / 0.035;

// Fewer durations than this predict little.
const learnedMin = 5;

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
  const works = remainders.map(({ upgrades, mayStart, chain, soakMs, retryWaitMs, ...limits }) => {
    const { pacedMs = 0, calendar = policy } = limits;
    if (upgrades === 0) return { mayStart, workMs: 0, soakMs, calendar, requests: 0 };
    const slotBoundMs = (upgrades / policy.concurrency) * meanMs;
    const ownRequests = upgrades * requestsPerUpgrade;
    const readings = usualReadings({ ...span, upgrades, slots: policy.concurrency, usualMs });
    const rateBoundMs = ownRequests / (span.requestsPerSecond / 1_000 - readings.requestsPerMs);
    const busyMs = Math.max(slotBoundMs, rateBoundMs, chain * meanMs, pacedMs);
    const lastOnes = Math.min(upgrades, policy.concurrency);
    const slowestMs = Math.max(meanMs, Math.min(policy.upgrade.deadlineMs, slowestOf(spread, lastOnes)));
    const { maxAttempts, backoff } = policy.retry;
    const retryMs = maxAttempts > 1 && lastOnes >= retriedOfLast ? backoff.initialMs + meanMs : 0;
    // A retry that is not due yet ends after all others where these are few.
    const retriedMs = retryWaitMs === undefined ? 0 : retryWaitMs + meanMs;
    const workMs = Math.max(busyMs + slowestMs - meanMs + retryMs, retriedMs);
    // The fewer run, the more rarely lists are read.
    const readMs = busyMs + (slowestMs - meanMs) / 2;
    return { mayStart, workMs, soakMs, calendar, requests: ownRequests + readings.requestsPerMs * readMs };
  });
  const waveEnds = scheduleWork(works, { from: span.from, startNeedsMs });
  return {
    endsAt: waveEnds.length < works.length ? null : (waveEnds.at(-1) ?? span.from),
    waveEnds,
    plusMinusMs: Math.round(sumOf(works, ({ workMs }) => workMs) * uncertainty),
    requests: Math.round(sumOf(works, ({ requests }) => requests)),
  };
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
function spreadOf({ upgrade }: Policy, learned: LearnedDurations | undefined): DurationSpread {
  const usual = usualSpread(upgrade.expectMs);
  if (learned === undefined || learned.count < learnedMin)
    return { ...usual, meanMs: usual.meanMs + upgrade.verifyWithinMs / 30 };
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
