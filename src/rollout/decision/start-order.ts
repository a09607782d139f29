import { sumOf } from '../../base/grouping.ts';
import type { DurationMs } from '../../base/time.ts';
import { priorEnds } from '../model/expected-ends.ts';
import { valueSeparator } from '../model/plan-groups.ts';
import type { Candidate, RolloutView } from '../model/rollout.ts';

/** The turn of a pending collector of a stratum: the lowest one starts first. */
export type TurnOf = (candidate: Candidate, stratum: number) => number;

// The slowest of some hundred upgrades takes about so many times as long as they usually do.
const slowestTimes = 2.5;

// A stratum that takes as long as its wave still starts over a fifth of it, so that what others show is not late.
const shareMin = 0.2;

/**
 * Orders pending collectors so that the wave ends early. Slow upgrades that start last prolong it, while most slots are
 * free. The plan spreads each stratum over the whole wave. Here each is spread over the part of the wave in which its last
 * upgrade can still start and end with the others. Each stratum starts from the beginning on, so that all show something
 * early. Without learned durations, or with equal ones, this is the order of the plan.
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

/** What a duration depends on: a value of a label, or the stratum itself. Its effect is a logarithm. */
interface Cause {
  effect: number;
  readonly ended: Ended[];
}

interface Ended {
  readonly count: number;
  readonly log: number;
  readonly causes: readonly Cause[];
}

// Few rounds are enough, because the effects hardly depend on each other.
const rounds = 2;

/**
 * The usual duration of each stratum. Few ends of a stratum say little, so strata with a common value, such as the same
 * operating system, count for each other: a logarithm is the sum of the effects of its values and of its own.
 */
function makeUsualDuration({ durations, groups }: RolloutView): (stratum: number) => DurationMs {
  const causes = new Map<string, Cause>();
  const causesOf = (stratum: number) => {
    const values = (groups.strata[stratum]?.label ?? '').split(valueSeparator);
    return [...values.map((value, place) => `${place} ${value}`), `stratum ${stratum}`].map((name) => {
      const cause = causes.get(name) ?? { effect: 0, ended: [] };
      causes.set(name, cause);
      return cause;
    });
  };
  const ended = [...durations].map(([stratum, { count, medianMs }]): Ended => {
    const each = { count, log: Math.log(Math.max(1, medianMs)), causes: causesOf(stratum) };
    for (const cause of each.causes) cause.ended.push(each);
    return each;
  });
  const allLog = sumOf(ended, ({ count, log }) => count * log) / sumOf(ended, ({ count }) => count);
  const effectOf = (of: readonly Cause[]) => sumOf(of, ({ effect }) => effect);
  for (let round = 0; round < rounds; round += 1) {
    for (const cause of causes.values()) {
      const unexplained = ({ count, log, causes: all }: Ended) =>
        count * (log - allLog - effectOf(all) + cause.effect);
      const ends = sumOf(cause.ended, ({ count }) => count);
      cause.effect = sumOf(cause.ended, unexplained) / (ends + priorEnds);
    }
  }
  const known = new Map<number, DurationMs>();
  return (stratum) => {
    const before = known.get(stratum);
    if (before !== undefined) return before;
    const durationMs = Math.exp(allLog + effectOf(causesOf(stratum)));
    known.set(stratum, durationMs);
    return durationMs;
  };
}
