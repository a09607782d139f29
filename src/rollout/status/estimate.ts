import type { DurationMs, EpochMs } from '../../base/time.ts';
import { openTimeFrom } from '../calendar/calendar.ts';
import { type DurationSpread, learnedSpread, medianOf, slowestOf, usualSpread } from '../model/log-normal.ts';
import type { Policy } from '../model/policy.ts';
import { usualReadings } from '../upgrade/usual-readings.ts';

/** The remainder of a wave, for an estimate. */
export interface WaveRemainder {
  readonly upgrades: number;
  readonly soakMs: DurationMs;
  /** Upgrades that a cap makes wait for each other: the longest such chain. */
  readonly chain: number;
}

export interface Estimate {
  /** null: its windows leave no room for it. */
  readonly endsAt: EpochMs | null;
  /** Half the range in which the end is expected. */
  readonly plusMinusMs: DurationMs;
  readonly requests: number;
}

// Its create, the poll that shows its end, and one in ten that is polled or tried again. The remainder is of readings.
const requestsPerUpgrade = 2.1;

// Durations vary as widely as that; the sum over many slots varies much less. A quarter is honest for most fleets.
const uncertainty = 0.25;

// Of real first tries 96.5 % succeed : among so many of the last ones, one is tried again.
const retriedOfLast = 1 / 0.035;

// Fewer durations than this say little about the next one.
const learnedMin = 5;

/** What upgrades so far took, from create to verification. */
export interface LearnedDurations {
  readonly count: number;
  readonly meanMs: DurationMs;
  /** Unknown where left out: they vary as upgrades usually do. */
  readonly p95Ms?: DurationMs;
}

/**
 * When these waves will have ended, one after the other, and with how many requests: each is bound by its slots, by its
 * longest chain under a cap, or by the request rate, ends with its slowest upgrade, works only while a window is
 * open, and soaks by the clock on the wall.
 */
export function estimateRemainder(
  remainders: readonly WaveRemainder[],
  policy: Policy,
  of: {
    readonly from: EpochMs;
    readonly requestsPerSecond: number;
    /** Collectors of the account, which readings of its lists show. */
    readonly fleetSize: number;
    readonly learned?: LearnedDurations;
  },
): Estimate {
  const spread = spreadOf(policy, of.learned);
  const { meanMs } = spread;
  const usualMs = medianOf(spread);
  const works = remainders.map(({ upgrades, chain, soakMs }) => {
    if (upgrades === 0) return { workMs: 0, soakMs, requests: 0 };
    const slotBoundMs = (upgrades / policy.concurrency) * meanMs;
    const ownRequests = upgrades * requestsPerUpgrade;
    const readings = usualReadings({ ...of, upgrades, slots: policy.concurrency, usualMs });
    const rateBoundMs = ownRequests / (of.requestsPerSecond / 1_000 - readings.requestsPerMs);
    const busyMs = Math.max(slotBoundMs, rateBoundMs, chain * meanMs);
    const lastOnes = Math.min(upgrades, policy.concurrency);
    const slowestMs = Math.max(meanMs, Math.min(policy.upgrade.deadlineMs, slowestOf(spread, lastOnes)));
    const { maxAttempts, backoff } = policy.retry;
    const retryMs = maxAttempts > 1 && lastOnes >= retriedOfLast ? backoff.initialMs + meanMs : 0;
    const workMs = busyMs + slowestMs - meanMs + retryMs;
    return { workMs, soakMs, requests: ownRequests + readings.requestsPerMs * workMs };
  });
  const end = (factor: number) => layOut(works, policy, { from: of.from, factor });
  const [early, endsAt, late] = [end(1 - uncertainty), end(1), end(1 + uncertainty)];
  return {
    endsAt: endsAt === null ? null : Math.round(endsAt),
    plusMinusMs: early === null || late === null ? 0 : Math.round((late - early) / 2),
    requests: Math.round(works.reduce((sum, { requests }) => sum + requests, 0)),
  };
}

/** What the policy expects is a median; the slow half takes more of the time than the fast one. */
function spreadOf({ upgrade }: Policy, learned: LearnedDurations | undefined): DurationSpread {
  const usual = usualSpread(upgrade.expectMs);
  if (learned === undefined || learned.count < learnedMin)
    return { ...usual, meanMs: usual.meanMs + upgrade.verifyWithinMs / 30 };
  const { meanMs, p95Ms } = learned;
  return p95Ms === undefined ? { ...usual, meanMs } : learnedSpread(meanMs, p95Ms);
}

/** Lays the work of each wave into open windows, and its soak after it. */
function layOut(
  works: ReadonlyArray<{ readonly workMs: DurationMs; readonly soakMs: DurationMs }>,
  policy: Policy,
  { from, factor }: { readonly from: EpochMs; readonly factor: number },
): EpochMs | null {
  let at = from;
  for (const { workMs, soakMs } of works) {
    const workedAt = workMs === 0 ? at : openTimeFrom(policy, '', at, workMs * factor);
    if (workedAt === null) return null;
    at = workedAt + soakMs;
  }
  return at;
}
