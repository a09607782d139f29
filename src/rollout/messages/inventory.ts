import { assertNever } from '../../base/assert.ts';
import type { Implausible } from '../model/assess-inventory.ts';

/** What is wrong with a reading of the inventory. */
export function implausibleWords(why: Implausible): string {
  switch (why.kind) {
    case 'empty':
      return `the inventory is not plausible: it is empty, ${why.expected} collectors are expected`;
    case 'manyGone':
      return `the inventory is not plausible: it lacks ${why.missing} of ${why.members} collectors of the rollout`;
    case 'short':
      return `the inventory is not plausible: it lists ${why.size} collectors, ${why.before} before`;
    default:
      return assertNever(why);
  }
}
