import type { UpgradeIn } from '../model/upgrade.ts';
import type { FactOf, RowObservation } from './facts.ts';
import { showsEligible } from './heartbeats.ts';
import { nextHeartbeatAt } from './poll-schedule.ts';
import { ignore, type StateRules } from './state-rules.ts';
import { freshForMs } from './step.ts';
import { type EvolveContext, takeTurn, withdraw } from './transitions.ts';

type Pending = UpgradeIn<'pending'>;

/** Without a slot, a poll or a create: all that can come is its turn, or its end. */
const waiting = {
  nextStep: () => ({ do: 'rest' }) as const,
  on: {
    withdrawn: withdraw,
    abandoned: withdraw,
    ...ignore('putBack', 'claimed'),
    ...ignore('createSent', 'createNotSent', 'created', 'createFailed', 'buildsSeen'),
    ...ignore('taskSeen', 'collectorSeen', 'pollFailed', 'changeHinted', 'unchanged'),
    ...ignore('departed', 'regressed', 'retryAsked', 'rejoined', 'rolledBack'),
  },
};

/** Waits for its turn: the reconciler admits it. */
export const pending: StateRules<'pending'> = {
  ...waiting,
  on: { ...waiting.on, admitted: afterAdmitted },
};

/** Waits for an instant; from then on the reconciler may admit it again. */
export const retrying: StateRules<'retrying'> = {
  ...waiting,
  on: {
    ...waiting.on,
    // Its collector has been through something since it was last polled, so it is polled again (P1).
    admitted: (upgrade, fact) => takeTurn(upgrade, fact, { dueAt: fact.at, freshAt: 0 }),
  },
};

/** What the plan, or a page, showed of it a moment ago takes the place of the poll before its create. */
function afterAdmitted(upgrade: Pending, fact: FactOf<'admitted'>, context: EvolveContext) {
  const { at, seen } = fact;
  const { policy } = context;
  const { offeredAt, eligibleAt } = upgrade.identity;
  if (seen !== undefined && isPollReplaced(upgrade, seen, fact, context))
    return takeTurn(upgrade, fact, { dueAt: at, freshAt: seen.at });
  if (offeredAt === undefined) return takeTurn(upgrade, fact, { dueAt: at, freshAt: eligibleAt });
  // Of one that is admitted right after its plan was made a newer heartbeat is not to be seen yet.
  const heardAt = nextHeartbeatAt(eligibleAt, policy);
  const dueAt = heardAt > at ? Math.min(heardAt, nextHeartbeatAt(at, policy)) : at;
  return takeTurn(upgrade, fact, { dueAt, freshAt: eligibleAt, heartbeatAfter: offeredAt });
}

/**
 * After a loss of data an upgrade may run that this record does not know, and a row does not show that (P1). An upgradable
 * list does that was read since creates from before have arrived, and shortly before the row.
 */
function isPollReplaced(
  upgrade: Pending,
  seen: RowObservation,
  { trustedSince = 0 }: FactOf<'admitted'>,
  { answerWithinMs }: EvolveContext,
): boolean {
  const { identity, tally } = upgrade;
  if (tally.createsInDoubt > 0) return false;
  if (identity.eligibleAt >= trustedSince) return showsEligible(upgrade, seen, identity.offeredAt);
  const { at, offered } = seen;
  const since = Math.max(trustedSince + answerWithinMs, at - freshForMs);
  return offered !== undefined && offered.at >= since && showsEligible(upgrade, seen, offered.offeredAt);
}
