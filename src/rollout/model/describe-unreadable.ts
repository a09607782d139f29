import { assertNever } from '../../base/assert.ts';
import type { UnreadableRecord } from './rollout.ts';

/** Why nothing of a rollout starts whose own record can't be read, and what to do about it. */
export function unreadableWords(record: UnreadableRecord): string {
  switch (record.kind) {
    case 'newer':
      return `it was written by a newer upwave (record version ${record.version}, this upwave reads ${record.readable}): this daemon leaves it alone. Start a daemon of that version`;
    case 'corrupt':
      return "its record in Redis can't be read: nothing of it starts, and what runs is watched to its end. Settle it with `upwave repair`, or abort it";
    default:
      return assertNever(record);
  }
}
