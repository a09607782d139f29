import type { SeedResult } from '../play/play-seed.ts';

/** Below this nobody can say what the 95th percentile is worth. */
const settledSeedsMin = 100;

/** How far, up or down, more seeds may still move a median or 95th percentile: 2 % of it. */
export const settledWithin = 0.02;

/** Of the standard normal distribution, both sides: 95 % of all intervals hold the true value. */
const z = 1.96;

/**
 * True when more seeds would show nothing new: every rollout ended for the same kind of reason, and the medians and 95th percentiles of
 * what is harmed, done, asked and waited for are known to 2 %, with a confidence of 95 % each.
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

const settledFigures = ['harmed', 'othersDone', 'takenBack', 'tookMs', 'requests'] as const;

/** The ranks between which the quantile lies, by the binomial distribution, are close to each other. */
function isKnown(sorted: readonly number[], share: number): boolean {
  const count = sorted.length;
  const spread = z * Math.sqrt(count * share * (1 - share));
  const at = (rank: number) => sorted[Math.min(count - 1, Math.max(0, Math.round(rank)))] ?? 0;
  const middle = at(share * count);
  return at(share * count + spread) - at(share * count - spread) <= 2 * settledWithin * Math.abs(middle);
}
