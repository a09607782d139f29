import { sumOf } from '../../base/grouping.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { formatAttributes } from '../model/attributes.ts';

/** The part of a status that says which group of collectors may be held. */
export interface GroupedFailures extends Pick<RolloutStatus, 'sharedAttribute' | 'endedAt' | 'reasonKind'> {
  readonly strata: { readonly held: ReadonlyArray<{ readonly label: string }> };
}

/**
 * The group of collectors that explains the failures.
 * @returns undefined if it is held already, the rollout has ended, or only held strata were left, so that the group was released
 */
export function groupToHold(status: GroupedFailures): string | undefined {
  const { sharedAttribute: shared, endedAt, reasonKind } = status;
  if (shared === null || endedAt !== null || reasonKind === 'onlyHeldStrata') return undefined;
  return isExplainedByHold(status) ? undefined : formatAttributes(shared.attributes);
}

/** Whether the group that explains the failures is held. */
export function isExplainedByHold({
  sharedAttribute: shared,
  strata,
}: Pick<GroupedFailures, 'sharedAttribute' | 'strata'>): boolean {
  if (shared === null) return false;
  const name = formatAttributes(shared.attributes);
  return strata.held.some(({ label }) => label === name);
}

/**
 * The group that explains more than half of the failures, retried attempts included. It is held before the rollout is resumed.
 * @returns undefined if no group does, or it is not to be held
 */
export function groupToHoldFirst(
  status: GroupedFailures & Pick<RolloutStatus, 'causes'>,
): string | undefined {
  const { sharedAttribute: shared, causes } = status;
  if (shared === null) return undefined;
  const known = sumOf(causes, ({ of: group, total }) =>
    group === 'failed' || group === 'retrying' ? total : 0,
  );
  const all = Math.max(known, shared.failed + shared.elsewhere.failed);
  return shared.failed * 2 > all ? groupToHold(status) : undefined;
}

/** Collectors that start once the rollout continues: those that wait, without members of held strata. */
export function startableOf({ counts, waves }: Pick<RolloutStatus, 'counts' | 'waves'>): number {
  const waiting = counts.pending + counts.retrying + counts.deferred;
  return Math.max(0, waiting - sumOf(waves, ({ setAside }) => setAside));
}

/**
 * Labels of the strata that are released before the rollout is resumed, because a resume would end it without them.
 * @returns none if other collectors can start after a resume
 */
export function strataToReleaseFirst(
  status: Pick<RolloutStatus, 'reasonKind' | 'counts' | 'waves' | 'strata'>,
): readonly string[] {
  const { reasonKind, strata } = status;
  if (reasonKind !== 'onlyHeldStrata' || startableOf(status) > 0) return [];
  return strata.held.flatMap(({ label, waiting }) => (waiting > 0 ? [label] : []));
}
