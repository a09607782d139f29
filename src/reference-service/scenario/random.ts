import { normalChance, seededChance } from '../../base/chance.ts';
import { hashNumber } from '../../base/hash.ts';

export type Random = ReturnType<typeof makeRandom>;

/** The 95th percentile of the standard normal distribution. */
const z95 = 1.6449;

/** A seeded generator of random values: the same seed text gives the same values. */
export function makeRandom(seed: string) {
  const next = seededChance(hashNumber(seed));
  return {
    /** Uniform in [0, 1). */
    next,
    /** Uniform in [min, max). */
    between: (min: number, max: number) => min + next() * (max - min),
    /** A uniform integer in [min, max]. */
    integer: (min: number, max: number) => min + Math.floor(next() * (max - min + 1)),
    chance: (probability: number) => next() < probability,
    pick: <T>(items: readonly [T, ...T[]]): T => items[Math.floor(next() * items.length)] ?? items[0],
    /** Log-normal: half of the values are below the median, 95 of 100 below `p95`. */
    logNormal: ({ median, p95 }: { readonly median: number; readonly p95: number }) =>
      median * Math.exp((Math.log(p95 / median) / z95) * normalChance(next)),
  };
}

/** A fixed number in [0, 1) for a text, so that "is this collector among the 5 %?" always has the same answer. */
export function hashShare(text: string): number {
  return hashNumber(text) / 2 ** 48;
}
