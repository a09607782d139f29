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

/** Mulberry32 over a hash of the seed text: small, fast, and good enough to play a fleet. */
export function makeRandom(seed: string): Random {
  let state = hashNumber(seed) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return {
    next,
    between: (min, max) => min + next() * (max - min),
    integer: (min, max) => min + Math.floor(next() * (max - min + 1)),
    chance: (probability) => next() < probability,
    pick: (items) => items[Math.floor(next() * items.length)] ?? items[0],
    logNormal: ({ median, p95 }) => median * Math.exp((Math.log(p95 / median) / z95) * normal()),
  };
}

/** A fixed number in [0, 1) for a text: "is this collector among the 5 %?" has one answer for ever. */
export function hashShare(text: string): number {
  return hashNumber(text) / 2 ** 48;
}
