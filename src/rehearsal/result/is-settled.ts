import type { SeedResult } from '../play/play-seed.ts';

/** With fewer seeds the error of a 95th percentile is unknown. */
const settledSeedsMin = 100;

/** The relative change, up or down, that more seeds may still cause in a median or 95th percentile: 2 %. */
export const settledWithin = 0.02;

/** The two-sided quantile of the standard normal distribution for a confidence of 95 %. */
const z = 1.96;

/**
 * True when more seeds would show nothing new: every rollout ended for the same kind of reason, and the medians and 95th
 * percentiles of all figures are known to 2 %, with a confidence of 95 % each.
 */
export function isSettled(results: readonly SeedResult[]): boolean {
  if (results.length < settledSeedsMin) return false;
  const reasons = new Set(results.map(({ reasonKind }) => reasonKind));
  if (reasons.size > 1) return false;
  return settledFigures.every((figure) => {
    const sorted = results.map((result) => result[figure]).sort((a, b) => a - b);
    return [0.05, 0.5, 0.95].every((share) => isKnown(sorted, share));
  });
}

const settledFigures = ['harmed', 'othersDone', 'rolledBack', 'tookMs', 'requests'] as const;

/** True when the values at both ends of the quantile's confidence interval, by the binomial distribution, are close. */
function isKnown(sorted: readonly number[], share: number): boolean {
  const count = sorted.length;
  const spread = z * Math.sqrt(count * share * (1 - share));
  const at = (rank: number) => sorted[Math.min(count - 1, Math.max(0, Math.round(rank)))] ?? 0;
  const middle = at(share * count);
  return at(share * count + spread) - at(share * count - spread) <= 2 * settledWithin * Math.abs(middle);
}
