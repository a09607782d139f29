import type { Pair } from './kinds.ts';

interface Rule {
  readonly is: (pair: Pair) => boolean;
  readonly why: string;
}

/** What cannot meet, and why. A night that meets one of these fails. */
const rules: readonly Rule[] = [];

/** @returns why a pair cannot meet; undefined where it can */
export function cannotMeet(pair: Pair): string | undefined {
  return rules.find(({ is }) => is(pair))?.why;
}
