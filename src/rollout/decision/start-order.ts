import { sumOf } from '../../base/grouping.ts';
import type { DurationMs } from '../../base/time.ts';
import { priorEnds } from '../model/expected-ends.ts';
import type { Candidate, RolloutView } from '../model/rollout.ts';

/** The turn of a pending collector of a stratum: the lowest one starts first. */
export type TurnOf = (candidate: Candidate, stratum: number) => number;

// The slowest of a hundred upgrades takes about twice as long as they usually do.
const slowestTimes = 2;

// A stratum that takes as long as its wave still starts over a fifth of it, so that what others show is not late.
const shareMin = 0.2;

/**
 * Orders pending collectors so that the wave ends early. Slow upgrades that start last prolong it, while most slots are
 * free. The plan spreads each stratum over the whole wave. Here each is spread over the part of it that is left when its
 * last upgrade has to start, so that all strata end together, and each has its share at any time. Without learned durations,
 * or with equal ones, this is the order of the plan.
 */
export function makeTurnRule(view: RolloutView): TurnOf {
  const { rollout, durations } = view;
  const wave = rollout.waves.findIndex(({ state }) => state !== 'passed');
  if (durations.size === 0 || wave < 0) return ({ order }) => order;
  const usualMs = makeUsualDuration(view);
  const sizes = view.strata
    .filter((each) => each.wave === wave)
    .map(({ stratum, waiting, active, succeeded, failed }) => ({
      stratum,
      count: waiting + active + succeeded + failed,
    }));
  const workMs = sumOf(sizes, ({ stratum, count }) => count * usualMs(stratum));
  const wholeMs = workMs / Math.max(1, rollout.policy.concurrency);
  const before = sumOf(rollout.waves.slice(0, wave), ({ size }) => size);
  return ({ order }, stratum) => {
    const share = wholeMs === 0 ? 1 : 1 - (slowestTimes * usualMs(stratum)) / wholeMs;
    return (order - before) * Math.max(shareMin, share);
  };
}

/** The usual duration of each stratum. Few ends of a stratum say little, so that the others count for it, too. */
function makeUsualDuration({ durations }: RolloutView): (stratum: number) => DurationMs {
  const ended = [...durations.values()];
  const ends = sumOf(ended, ({ count }) => count);
  const allLog = sumOf(ended, ({ count, medianMs }) => count * Math.log(Math.max(1, medianMs))) / ends;
  return (stratum) => {
    const { count = 0, medianMs = 1 } = durations.get(stratum) ?? {};
    return Math.exp((count * Math.log(Math.max(1, medianMs)) + priorEnds * allLog) / (count + priorEnds));
  };
}
