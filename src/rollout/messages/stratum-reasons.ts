import type { StratumReason } from '../model/upgrade-reason.ts';
import { makeWords } from './sentences.ts';

/** Why a stratum is held alone: `3 of 4 failed, 1 of 80 elsewhere`. */
export const stratumReasonWords = makeWords<StratumReason>({
  outlier: ({ failed, tried, elsewhere }) =>
    `${failed} of ${tried} failed, ${elsewhere.failed} of ${elsewhere.tried} elsewhere`,
  asked: byWords,
});

/** Why a stratum is held, without the operator's name: `an incident`. */
export function stratumWhyWords(reason: StratumReason): string {
  return reason.kind === 'asked' ? reason.words : stratumReasonWords(reason);
}

/** `by ann: an incident`. */
export function byWords({ by, words }: { readonly by: string; readonly words: string }): string {
  return words === '' ? `by ${by}` : `by ${by}: ${words}`;
}

/** Which strata are held, and why, without the operator's name. */
export function heldWords(
  strata: ReadonlyArray<{ readonly label: string; readonly reason: StratumReason }>,
): string {
  return strata
    .map(({ label, reason }) => [label, stratumWhyWords(reason)].filter((part) => part !== '').join(': '))
    .join('; ');
}
