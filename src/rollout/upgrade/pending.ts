import type { UpgradeIn } from '../model/upgrade.ts';
import type { FactOf } from './facts.ts';
import { showsEligible } from './heartbeats.ts';
import { nextHeartbeatAt } from './poll-schedule.ts';
import { ignore, type StateRules } from './state-rules.ts';
import { type EvolveContext, takeTurn, withdraw } from './transitions.ts';

/** Waits for its turn, without a slot: the reconciler admits it. */
export const pending: StateRules<'pending'> = {
  nextStep: () => ({ do: 'rest' }),
  on: {
    admitted: afterAdmitted,
    withdrawn: withdraw,
    abandoned: withdraw,
    ...ignore('putBack', 'claimed'),
    ...ignore('createSent', 'createNotSent', 'created', 'createFailed', 'buildsSeen'),
    ...ignore('taskSeen', 'collectorSeen', 'pollFailed', 'changeHinted', 'unchanged'),
    ...ignore('departed', 'regressed', 'retryAsked', 'rejoined', 'rolledBack'),
  },
};

/** What the plan, or a page of the inventory, showed of it a moment ago takes the place of the poll before its create. */
function afterAdmitted(upgrade: UpgradeIn<'pending'>, fact: FactOf<'admitted'>, { policy }: EvolveContext) {
  const { at, seen } = fact;
  const { offeredAt, eligibleAt } = upgrade.identity;
  const isUntouched = upgrade.tally.createsInDoubt === 0;
  if (isUntouched && seen !== undefined && showsEligible(upgrade, seen, offeredAt))
    return takeTurn(upgrade, fact, { dueAt: at, freshAt: seen.at });
  if (offeredAt === undefined) return takeTurn(upgrade, fact, { dueAt: at, freshAt: eligibleAt });
  // Of one that is admitted right after its plan was made a newer heartbeat is not to be seen yet.
  const heardAt = nextHeartbeatAt(eligibleAt, policy);
  const dueAt = heardAt > at ? Math.min(heardAt, nextHeartbeatAt(at, policy)) : at;
  return takeTurn(upgrade, fact, { dueAt, freshAt: eligibleAt, heartbeatAfter: offeredAt });
}
