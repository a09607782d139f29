import type { DurationMs } from '../../base/time.ts';
import type { DurationSummary } from './rollout.ts';

/** How long upgrades take: log-normal (field-facts.md, Upgrades). */
export interface DurationSpread {
  readonly meanMs: DurationMs;
  /** Standard deviation of the logarithm; 0: all take the mean. */
  readonly sigma: number;
}

/** Of real upgrades 95 in 100 end within four times the median (field-facts.md, Upgrades). */
export const p95PerMedian = 4;

/** The 95th percentile of the standard normal distribution, in standard deviations. */
const z95 = 1.645;

/** @returns the standard deviation of the logarithm, from the median and the 95th percentile */
export function sigmaOf({ medianMs, p95Ms }: Pick<DurationSummary, 'medianMs' | 'p95Ms'>): number {
  return Math.log(Math.max(1, p95Ms / medianMs)) / z95;
}

/** The estimate before any upgrade has ended: only the median is known. Slow upgrades make the mean 1.43 medians. */
export function usualSpread(medianMs: DurationMs): DurationSpread {
  const sigma = sigmaOf({ medianMs, p95Ms: medianMs * p95PerMedian });
  return { meanMs: medianMs * Math.exp(sigma ** 2 / 2), sigma };
}

/** The estimate from mean and 95th percentile: `p95 / mean = e^(z95 × sigma - sigma² / 2)`, solved for sigma. */
export function learnedSpread(meanMs: DurationMs, p95Ms: DurationMs): DurationSpread {
  const discriminant = z95 ** 2 - 2 * Math.log(Math.max(1, p95Ms / meanMs));
  return { meanMs, sigma: z95 - Math.sqrt(Math.max(0, discriminant)) };
}

/** The median. */
export function medianOf({ meanMs, sigma }: DurationSpread): DurationMs {
  return meanMs / Math.exp(sigma ** 2 / 2);
}

/** The 95th percentile. */
export function p95Of(spread: DurationSpread): DurationMs {
  return medianOf(spread) * Math.exp(z95 * spread.sigma);
}

/** The expected duration of the slowest of n upgrades: `√(ln n)` and a tenth is close to the normal maximum of n. */
export function slowestOf({ meanMs, sigma }: DurationSpread, count: number): DurationMs {
  return meanMs * Math.max(1, Math.exp(sigma * deviationsOfLast(count) - sigma ** 2 / 2));
}

/** How far the slowest of n upgrades is from the median, in standard deviations. */
export function deviationsOfLast(count: number): number {
  return 1.1 * Math.sqrt(Math.log(Math.max(1, count)));
}

/**
 * The hazard of the standard normal distribution at `z`: its density divided by the probability above `z`. Computed by a
 * logistic curve that is within 1 % of it between -2 and 2, and 7 % above it at 3.
 */
export function normalHazard(z: number): number {
  return (1.5976 + 0.2117 * z ** 2) / (1 + Math.exp(-1.5976 * z - 0.070566 * z ** 3));
}

/** The probability that a standard normal variable is above `z` (Abramowitz and Stegun 26.2.17, within 1e-7). */
export function normalAbove(z: number): number {
  if (z < 0) return 1 - normalAbove(-z);
  const t = 1 / (1 + 0.2316419 * z);
  const series =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return (series * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
}
