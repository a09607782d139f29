import { seededChance } from '../../src/base/chance.ts';

/** Draws of one concern of a simulated world; each concern has its own, so that switching one off leaves the others as they were. */
export interface Chances {
  /** From 0 to 1. */
  next(): number;
  /** True with this probability; one of 0 draws nothing. */
  hit(probability: number): boolean;
  /** A whole number, both ends included. */
  int(min: number, max: number): number;
  between(min: number, max: number): number;
  pick<T>(list: readonly [T, ...T[]]): T;
  /** One of a list that may be empty. */
  some<T>(list: readonly T[]): T | undefined;
  /** With this median, and 95 % below four medians. */
  logNormal(median: number): number;
}

export function makeChances(seed: number, concern: string): Chances {
  const next = seededChance(mix(seed, concern));
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  const some = <T>(list: readonly T[]): T | undefined =>
    list.length === 0 ? undefined : list[int(0, list.length - 1)];
  return {
    next,
    hit: (probability) => probability > 0 && next() < probability,
    int,
    between: (min, max) => min + next() * (max - min),
    pick: (list) => some(list) ?? list[0],
    some,
    logNormal: (median) => {
      const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
      return median * Math.exp(normal * logNormalSigma);
    },
  };
}

// ln 4 over the normal's 95th percentile.
const logNormalSigma = Math.log(4) / 1.645;

function mix(seed: number, concern: string): number {
  let hash = seed ^ 0x9e3779b9;
  for (const letter of concern) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return hash >>> 0;
}
