import { sumOf } from '../../base/grouping.ts';
import { priorEnds } from '../model/expected-ends.ts';
import type { RolloutView } from '../model/rollout.ts';
import type { LearnedDurations } from './estimate.ts';

/**
 * Predicts how long the remaining upgrades take, from those that have ended. The mix of strata among the remaining
 * upgrades scales the result. The more upgrades of a stratum have ended, the more weight its own durations get.
 */
export function learnedOf({
  learned,
  durations,
  strata,
}: Pick<RolloutView, 'learned' | 'durations' | 'strata'>): LearnedDurations {
  const ended = [...durations].map(([stratum, summary]) => ({ stratum, ...summary, weight: summary.count }));
  if (ended.length === 0) return learned;
  const usualLog = averageOf(ended, ({ medianMs }) => Math.log(medianMs));
  const factorOf = ({ stratum }: { readonly stratum: number }): number => {
    const { count = 0, medianMs = 1 } = durations.get(stratum) ?? {};
    return Math.exp((count / (count + priorEnds)) * (Math.log(medianMs) - usualLog));
  };
  const remaining = strata
    .map(({ stratum, waiting, active }) => ({ stratum, weight: waiting + active }))
    .filter(({ weight }) => weight > 0);
  const ratio = remaining.length === 0 ? 1 : averageOf(remaining, factorOf) / averageOf(ended, factorOf);
  return {
    count: learned.count,
    meanMs: learned.meanMs * ratio,
    p95Ms: averageOf(ended, ({ p95Ms }) => p95Ms) * ratio,
  };
}

function averageOf<Of extends { readonly weight: number }>(
  items: readonly Of[],
  value: (each: Of) => number,
): number {
  const weight = sumOf(items, (each) => each.weight);
  return sumOf(items, (each) => value(each) * each.weight) / weight;
}
