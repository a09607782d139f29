import { showCount } from '../../base/singular-or-plural.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { countLeft } from '../../rollout/model/left-behind.ts';

/** `40/206 ok`. A rollback and the rollout that it takes back have the same figures: `105/120 back`. */
export function doneText({ kind, state, counts, planned, leftBehind }: RolloutStatus): string {
  const left = countLeft(leftBehind);
  const [done, of] =
    kind === 'rollback' ? [counts.succeeded, planned + left] : [counts.rolledBack, counts.rolledBack + left];
  if (kind === 'rollback' || state === 'rolledBack') return `${showCount(done)}/${showCount(of)} back`;
  return `${showCount(counts.succeeded)}/${showCount(planned)} ok`;
}
