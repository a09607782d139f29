import type { PolicyStatus } from '../../contract/admin/policies.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { isHeadline } from './headline.ts';

type Ranked = Pick<RolloutStatus, 'policy' | 'headline' | 'reasonKind' | 'rollbackId' | 'endedAt'>;

/** A policy without a running rollout, which waits for an operator. */
type Needing = Required<Pick<PolicyStatus, 'policy' | 'needs'>>;

const byName = new Intl.Collator('en', { numeric: true });

/**
 * The order of all lists of policies: policies that wait for a start, rollouts that need a person, those that wait for the service, running ones, those
 * that wait for a window, those whose rollback runs, ended ones, policies without a rollout. Equally urgent rollouts are in the
 * order of their policies' names.
 */
export function compareUrgency(a: Ranked | Needing | undefined, b: Ranked | Needing | undefined): number {
  const order = rankOf(a) - rankOf(b);
  return order !== 0 || a === undefined || b === undefined ? order : byName.compare(a.policy, b.policy);
}

function rankOf(rollout: Ranked | Needing | undefined): number {
  if (rollout === undefined) return 11;
  if ('needs' in rollout) return 0;
  const { headline, reasonKind, rollbackId, endedAt } = rollout;
  const { kind, needsPerson } = headline;
  if (needsPerson) {
    // A held rollout may be broken. One that waits for approval is not.
    if (kind === 'needsApproval') return 3;
    // The rollout that broke the build comes before those that its hold stops.
    if (reasonKind === 'buildHeld') return 2;
    return rollbackId === null ? 0 : 1;
  }
  if (endedAt !== null) return isHeadline(kind, 'alarm') ? 9 : 10;
  if (kind === 'waitsForService' || kind === 'waitsForInventory') return 4;
  if (kind === 'waitsForWindow') return 6;
  // Its rollback, which may wait for a window, shows more.
  return rollbackId === null ? 5 : 7;
}
