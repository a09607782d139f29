import { sumOf } from '../../base/grouping.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { formatAttributes } from '../model/attributes.ts';

/** The part of a status that says which group of collectors may be held. */
export interface GroupedFailures extends Pick<RolloutStatus, 'sharedAttribute' | 'endedAt'> {
  readonly strata: { readonly held: ReadonlyArray<{ readonly label: string }> };
}

/** The group of collectors that explains the failures; undefined if it is held already, or the rollout has ended. */
export function groupToHold({
  sharedAttribute: shared,
  strata,
  endedAt,
}: GroupedFailures): string | undefined {
  if (shared === null || endedAt !== null) return undefined;
  const name = formatAttributes(shared.attributes);
  return strata.held.some(({ label }) => label === name) ? undefined : name;
}

/**
 * The group that explains more than half of the failures, retried attempts included. It is held before the rollout is resumed.
 * @returns undefined if no group does, or it is held already
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
