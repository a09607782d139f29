import type { VerbBody } from '../contract/verb-body.ts';

/** Who asks and why, as they go on to events and records: none of them is empty. */
export function wordsOf({ by, reason }: VerbBody): VerbBody {
  return { by, reason: reason === '' ? 'no reason given' : reason };
}
