import { normalChance, seededChance } from '../../base/chance.ts';
import { hashNumber } from '../../base/hash.ts';

/** A repeatable source of chance: the same seed text gives the same draws. */
export interface Random {
  /** Evenly spread in [0, 1). */
  next(): number;
  /** Evenly spread in [min, max). */
  between(min: number, max: number): number;
  /** A whole number in [min, max]. */
  integer(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly [T, ...T[]]): T;
  /** Log-normal: half of the draws lie below the median, 95 in 100 below `p95`. */
  logNormal(shape: { readonly median: number; readonly p95: number }): number;
}

/** The 95th percentile of the standard normal distribution. */
const z95 = 1.6449;

/** Chances by a hash of the seed text. */
export function makeRandom(seed: string): Random {
  const next = seededChance(hashNumber(seed));
  return {
    next,
    between: (min, max) => min + next() * (max - min),
    integer: (min, max) => min + Math.floor(next() * (max - min + 1)),
    chance: (probability) => next() < probability,
    pick: (items) => items[Math.floor(next() * items.length)] ?? items[0],
    logNormal: ({ median, p95 }) => median * Math.exp((Math.log(p95 / median) / z95) * normalChance(next)),
  };
}

/** A fixed number in [0, 1) for a text: "is this collector among the 5 %?" has one answer for ever. */
export function hashShare(text: string): number {
  return hashNumber(text) / 2 ** 48;
}
