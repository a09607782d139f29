import type { GroupHold } from '../../contract/admin/holds.ts';
import type { SharedAttribute } from '../../contract/admin/rollout-status.ts';
import { formatAttributes } from '../model/attributes.ts';
import { findStratum } from '../model/plan-groups.ts';
import type { HeldStratum, RolloutView } from '../model/rollout.ts';
import type { StratumReason } from '../model/upgrade-reason.ts';

// If a larger share of the plan is affected, the build is the cause, not the group.
const shareMax = 0.5;

// With a smaller share of failures, most collectors of the group succeed, so a person decides.
const failingMin = 0.3;

/**
 * The group to hold alone: its shared attributes explain the failures. A group that was held before, and released, is a
 * stratum like any other.
 */
export function findOutlierGroup({
  rollout,
  groups,
  sharedAttribute,
}: RolloutView): SharedAttribute | undefined {
  if (rollout.policy.isolate !== 'attributes' || sharedAttribute === undefined) return undefined;
  const { share, failed, tried, attributes, cause } = sharedAttribute;
  // That of one cause is for people. The leader does not look for it, so a status must not expect a hold by it.
  if (cause !== undefined) return undefined;
  if (share > shareMax || failed < tried * failingMin) return undefined;
  const label = formatAttributes(attributes);
  const isKnown = [groups.strata, rollout.strata.held].some(
    (all) => findStratum(all, label).kind === 'found',
  );
  return isKnown ? undefined : sharedAttribute;
}

/** A held group whose collectors are not all in its stratum yet. Until then it is unknown which collectors may start. */
export function findUnmoved({ rollout }: Pick<RolloutView, 'rollout'>): HeldStratum | undefined {
  return rollout.strata.held.find(({ unmoved }) => unmoved === true);
}

/** A group of collectors as a held stratum, which they are not moved to yet. */
export function heldGroup(
  { label, attributes, by, at }: Pick<GroupHold, 'label' | 'attributes' | 'by' | 'at'>,
  reason: StratumReason,
): HeldStratum {
  // -1: it has no collectors until they are moved.
  return { stratum: -1, label, attributes, unmoved: true, reason, by, at };
}
