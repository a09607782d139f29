import type { EpochMs } from '../../base/time.ts';
import type { Policy } from '../model/policy.ts';
import { dueAtOf, type Upgrade, type UpgradeState } from '../model/upgrade.ts';
import { noteAttempts } from './attempts.ts';
import { deferred } from './deferred.ts';
import { ended } from './ended.ts';
import type { FactKind, FactOf, InventoryRow, UpgradeFact } from './facts.ts';
import type { ServiceFailure } from './failure-classes.ts';
import { pending, retrying } from './pending.ts';
import { queued } from './queued.ts';
import { starting } from './starting.ts';
import type { RowContext, RowVerdict, StateRules, UnlistedContext, UnlistedVerdict } from './state-rules.ts';
import type { Step } from './step.ts';
import type { EvolveContext } from './transitions.ts';
import { upgrading } from './upgrading.ts';
import { verifying } from './verifying.ts';

/** The rules of every state. Exhaustive by type: a state or fact without a rule does not compile. */
const rules: { readonly [State in UpgradeState]: StateRules<State> } = {
  pending,
  queued,
  starting,
  upgrading,
  verifying,
  retrying,
  deferred,
  ...ended,
};

/**
 * Applies a fact to an upgrade. This is the only way an upgrade changes (DESIGN §3). A fact that does not fit the state is
 * late: the same record is returned, so a repeated or late step changes nothing.
 */
export function evolve(upgrade: Upgrade, fact: UpgradeFact, context: EvolveContext): Upgrade {
  const next = answer(upgrade, fact.kind, fact, context);
  return next === upgrade ? upgrade : noteAttempts(upgrade, next, fact.at);
}

function answer<Kind extends FactKind>(
  upgrade: Upgrade,
  kind: Kind,
  fact: FactOf<Kind>,
  context: EvolveContext,
): Upgrade {
  return rulesOf(upgrade).on[kind](upgrade, fact, context);
}

/** The rules of the upgrade's state. The cast is safe because the rules are looked up by that state. */
function rulesOf({ progress: { state } }: Upgrade): StateRules<UpgradeState> {
  return rules[state] as StateRules<UpgradeState>;
}

/**
 * The next step of an upgrade. Pure: the same record and instant always give the same step.
 * @param trustedSince observations before this instant are repeated: a create may be missing from the record (P1)
 */
export function nextStep(upgrade: Upgrade, now: EpochMs, trustedSince: EpochMs = 0): Step {
  const { polls, nextStep: stepNow } = rulesOf(upgrade);
  const dueAt = dueAtOf(upgrade) ?? now;
  if (polls !== undefined && dueAt > now) return { do: 'wait', until: dueAt };
  return stepNow(upgrade, now, trustedSince);
}

/** Decides what an inventory row means for an upgrade. @param row with the service's clock at its page */
export function verdictOnRow(upgrade: Upgrade, row: InventoryRow, context: RowContext): RowVerdict {
  if (isPollUnderWay(upgrade, context.at)) return 'none';
  return rulesOf(upgrade).rows?.verdictOnRow(upgrade, row, context) ?? 'none';
}

/** Decides what it means that the collector is on an upgradable list. @param row the row of that list */
export function verdictOnOffer(upgrade: Upgrade, row: InventoryRow, context: RowContext): RowVerdict {
  if (isPollUnderWay(upgrade, context.at)) return 'none';
  const { rows } = rulesOf(upgrade);
  return (rows?.verdictOnOffer ?? rows?.verdictOnRow)?.(upgrade, row, context) ?? 'none';
}

/** Decides what it means that the collector is not on the list of the control build. */
export function verdictOnUnlisted(upgrade: Upgrade, context: UnlistedContext): UnlistedVerdict {
  if (isPollUnderWay(upgrade, context.at)) return 'none';
  return rulesOf(upgrade).rows?.verdictOnUnlisted?.(upgrade, context) ?? 'none';
}

/** Whether the task has to be polled now, if no list that shows its end is read. */
export function isTaskPollDue(upgrade: Upgrade, context: UnlistedContext): boolean {
  if (isPollUnderWay(upgrade, context.at)) return false;
  return rulesOf(upgrade).rows?.isTaskPollDue?.(upgrade, context) ?? false;
}

// A write now would make the poll's own write stale. A failed poll is repeated soon anyway.
function isPollUnderWay(upgrade: Upgrade, at: EpochMs): boolean {
  return (dueAtOf(upgrade) ?? at) <= at || upgrade.tally.failedPolls > 0;
}

/** True if list pages can replace polls of this upgrade. Such upgrades determine how often lists are read. */
export function isWatched(upgrade: Upgrade): boolean {
  return rulesOf(upgrade).rows?.isWatched(upgrade) ?? false;
}

/** True if it matters whether the service answers other requests, because this poll's time is up without an answer. */
export function isQuestionable(
  upgrade: Upgrade,
  failure: ServiceFailure,
  at: EpochMs,
  policy: Policy,
): boolean {
  const isTimeUp = rulesOf(upgrade).polls?.isTimeUp(upgrade, at, policy) ?? false;
  return failure.kind === 'unavailable' && isTimeUp;
}
