import type { DurationMs, EpochMs } from '../../base/time.ts';
import { openTimeFrom } from '../calendar/calendar.ts';
import type { Policy } from '../model/policy.ts';

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

// A create, four to six polls of the task spaced by its age, and one or two at the collector.
const requestsPerUpgrade = 8;

// Where the rate binds, polls wait for their turn, and an upgrade takes its create, one poll and one verification.
const requestsPerUpgradeMin = 3;

// A wave ends with its slowest upgrade: 95 % of log-normal durations end within four medians (field-facts.md).
const tailFactor = 2.5;

// Durations vary as widely as that; the sum over many slots varies much less. A quarter is honest for most fleets.
const uncertainty = 0.25;

// Fewer durations than this say little about the next one.
const learnedMin = 5;

/**
 * When these waves will have ended, one after the other, and with how many requests: each is bound by its slots, by its
 * longest chain under a cap, or by the request rate, has the tail of its slowest upgrade, works only while a window is
 * open, and soaks by the clock on the wall.
 * @param learned mean time from create to verification, over how many upgrades
 */
export function estimateRemainder(
  remainders: readonly WaveRemainder[],
  policy: Policy,
  of: {
    readonly from: EpochMs;
    readonly requestsPerSecond: number;
    readonly learned?: { readonly count: number; readonly meanMs: DurationMs };
  },
): Estimate {
  const learned = of.learned ?? { count: 0, meanMs: 0 };
  const upgradeMs =
    learned.count >= learnedMin
      ? learned.meanMs
      : policy.upgrade.expectMs + policy.upgrade.verifyWithinMs / 30;
  const works = remainders.map(({ upgrades, chain }) => {
    if (upgrades === 0) return 0;
    const slotBoundMs = (upgrades / policy.concurrency) * upgradeMs;
    const rateBoundMs = ((upgrades * requestsPerUpgradeMin) / of.requestsPerSecond) * 1_000;
    return Math.max(slotBoundMs, rateBoundMs, (chain - 1) * upgradeMs) + upgradeMs * (tailFactor - 1);
  });
  const end = (factor: number) => layOut(remainders, works, policy, { from: of.from, factor });
  const [early, endsAt, late] = [end(1 - uncertainty), end(1), end(1 + uncertainty)];
  return {
    endsAt: endsAt === null ? null : Math.round(endsAt),
    plusMinusMs: early === null || late === null ? 0 : Math.round((late - early) / 2),
    requests: remainders.reduce((sum, { upgrades }) => sum + upgrades * requestsPerUpgrade, 0),
  };
}

/** Lays the work of each wave into open windows, and its soak after it. */
function layOut(
  remainders: readonly WaveRemainder[],
  works: readonly DurationMs[],
  policy: Policy,
  { from, factor }: { readonly from: EpochMs; readonly factor: number },
): EpochMs | null {
  let at = from;
  for (const [index, { soakMs }] of remainders.entries()) {
    const workMs = (works[index] ?? 0) * factor;
    const workedAt = workMs === 0 ? at : openTimeFrom(policy, '', at, workMs);
    if (workedAt === null) return null;
    at = workedAt + soakMs;
  }
  return at;
}
