import type { UpgradeIn } from '../model/upgrade.ts';
import type { FactOf, RowObservation } from './facts.ts';
import { showsEligible } from './heartbeats.ts';
import { nextHeartbeatAt, nextListAt } from './poll-schedule.ts';
import { ignoreFacts, type StateRules } from './state-rules.ts';
import { freshForMs } from './step.ts';
import { type EvolveContext, takeTurn, withdrawUpgrade } from './transitions.ts';

type Pending = UpgradeIn<'pending'>;

/** Rules of states without slot, polls and creates: only admission or an end can follow. */
const waiting = {
  nextStep: () => ({ do: 'rest' }) as const,
  on: {
    withdrawn: withdrawUpgrade,
    abandoned: withdrawUpgrade,
    ...ignoreFacts('putBack', 'claimed'),
    ...ignoreFacts('createSent', 'createNotSent', 'created', 'createFailed', 'buildsSeen'),
    ...ignoreFacts('taskSeen', 'collectorSeen', 'pollFailed', 'changeHinted', 'unchanged'),
    ...ignoreFacts('departed', 'regressed', 'retryAsked', 'rejoined', 'rolledBack'),
  },
};

/** Waits until the reconciler admits it. */
export const pending: StateRules<'pending'> = {
  ...waiting,
  on: { ...waiting.on, admitted: afterAdmitted },
};

/** Waits until it is due; then the reconciler may admit it again. */
export const retrying: StateRules<'retrying'> = {
  ...waiting,
  on: {
    ...waiting.on,
    // The last observation predates the failed attempt, so the collector is polled again (P1).
    admitted: (upgrade, fact) => takeTurn(upgrade, fact, { dueAt: fact.at, freshAt: 0 }),
  },
};

/** A recent reading of the plan or of a page replaces the poll before the create. */
function afterAdmitted(upgrade: Pending, fact: FactOf<'admitted'>, context: EvolveContext) {
  const { at, seen } = fact;
  const { policy } = context;
  const { offeredAt, eligibleAt } = upgrade.identity;
  if (seen !== undefined && isPollReplaced(upgrade, seen, fact, context))
    return takeTurn(upgrade, fact, { dueAt: at, freshAt: seen.at });
  if (offeredAt === undefined) return takeTurn(upgrade, fact, { dueAt: at, freshAt: eligibleAt });
  // Right after planning, a newer heartbeat can't be visible yet.
  const heardAt = Math.min(nextHeartbeatAt(eligibleAt, policy), nextHeartbeatAt(at, policy));
  const dueAt = Math.max(heardAt, nextListAt(at, policy));
  return takeTurn(upgrade, fact, { dueAt, freshAt: eligibleAt, heartbeatAfter: offeredAt });
}

/**
 * After a data loss, an upgrade that is missing from this record may be running, which a row does not show (P1). Only an
 * upgradable list rules that out, if it was read shortly before the row and after all earlier creates had arrived.
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
  if (offered === undefined || offered.at < since) return false;
  // Between that list and the plan, a create may have left whose record was lost.
  return showsEligible(upgrade, seen, Math.max(offered.offeredAt, identity.offeredAt ?? 0));
}
