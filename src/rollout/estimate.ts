import type { DurationMs } from '../base/time.ts';
import type { Policy } from './policy.ts';

/** What is left of a wave, for an estimate. */
export interface WaveRemainder {
  readonly upgrades: number;
  readonly soakMs: DurationMs;
}

export interface Estimate {
  readonly durationMs: DurationMs;
  readonly plusMinusMs: DurationMs;
  readonly requests: number;
}

// A create, four to six looks at the task spaced by its age, and one or two at the collector.
const requestsPerUpgrade = 8;

// Where the rate binds, looks wait for their turn, and an upgrade takes its create, one look and one proof.
const requestsPerUpgradeMin = 3;

// A wave ends with its slowest upgrade: 95 % of log-normal durations end within four medians (field-facts.md).
const tailFactor = 2.5;

// Durations vary as widely as that; the sum over many slots varies much less. A quarter is honest for most fleets.
const uncertainty = 0.25;

// Fewer durations than this say little about the next one.
const learnedMin = 5;

/**
 * Time and requests that these waves still take, one after the other: each is bound by its slots or by the request
 * rate, has the tail of its slowest upgrade, and soaks.
 * @param learned mean time from create to proof, over how many upgrades
 */
export function estimateRemainder(
  remainders: readonly WaveRemainder[],
  policy: Policy,
  requestsPerSecond: number,
  learned: { readonly count: number; readonly meanMs: DurationMs } = { count: 0, meanMs: 0 },
): Estimate {
  const upgradeMs =
    learned.count >= learnedMin
      ? learned.meanMs
      : policy.upgrade.expectMs + policy.upgrade.verifyWithinMs / 30;
  let workMs = 0;
  let soakMs = 0;
  let requests = 0;
  for (const remainder of remainders) {
    soakMs += remainder.soakMs;
    if (remainder.upgrades === 0) continue;
    requests += remainder.upgrades * requestsPerUpgrade;
    const slotBoundMs = (remainder.upgrades / policy.concurrency) * upgradeMs;
    const rateBoundMs = ((remainder.upgrades * requestsPerUpgradeMin) / requestsPerSecond) * 1_000;
    workMs += Math.max(slotBoundMs, rateBoundMs) + upgradeMs * (tailFactor - 1);
  }
  return {
    durationMs: Math.round(workMs + soakMs),
    plusMinusMs: Math.round(workMs * uncertainty),
    requests,
  };
}
