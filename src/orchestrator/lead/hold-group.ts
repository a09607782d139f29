import type { GroupHold } from '../../contract/admin/holds.ts';
import type { RolloutChange } from '../../rollout/decision/rollout-facts.ts';
import { membersWith } from '../../rollout/model/attributes.ts';
import type { RolloutView } from '../../rollout/model/rollout.ts';
import type { Fence } from '../ports/leader.ts';
import { auditStop } from '../records/audit-stop.ts';
import { type ChangeRolloutParts, saveRolloutFact } from '../records/change-rollout.ts';

/**
 * Holds a group that is held over all rollouts, or notes that the rollout has no collector of it. While the attributes are
 * unreadable nothing starts, because the members of the group are unknown (P14).
 */
export async function holdGroup(
  parts: ChangeRolloutParts,
  { rollout }: RolloutView,
  {
    group,
    change,
    fence,
  }: { readonly group: GroupHold; readonly change: RolloutChange; readonly fence: Fence },
  signal: AbortSignal,
): Promise<'done' | 'again'> {
  const table = await parts.store.loadAttributes(rollout.id);
  if (table === undefined || signal.aborted) return 'again';
  const isEmpty = membersWith(table, group.attributes).length === 0;
  const at = parts.clock.now();
  const fact = isEmpty ? ({ kind: 'groupEmpty', label: group.label, at } as const) : { ...change, at };
  const saved = await saveRolloutFact(parts, rollout, fact, 'daemon', fence);
  if (saved !== 'saved') return 'again';
  await auditStop(parts, rollout.id, fact);
  return 'done';
}
