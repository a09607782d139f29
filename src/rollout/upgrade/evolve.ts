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

/** Every state with its rules: a state or a fact without an answer does not compile. */
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
 * The only way an upgrade changes (DESIGN §3). A fact that does not fit the state is late: it returns the very same
 * record, so that a repeated or overtaken step changes nothing.
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

/** The rules of the very state that the upgrade is in, so that they may be given this upgrade. */
function rulesOf({ progress: { state } }: Upgrade): StateRules<UpgradeState> {
  return rules[state] as StateRules<UpgradeState>;
}

/**
 * What this upgrade needs now. Pure: the same record and instant always give the same step.
 * @param trustedSince what was seen before is polled again: the record may be older than a create that was lost (P1)
 */
export function nextStep(upgrade: Upgrade, now: EpochMs, trustedSince: EpochMs = 0): Step {
  const { polls, nextStep: stepNow } = rulesOf(upgrade);
  const dueAt = dueAtOf(upgrade) ?? now;
  if (polls !== undefined && dueAt > now) return { do: 'wait', until: dueAt };
  return stepNow(upgrade, now, trustedSince);
}

/** What a row of the inventory means for an upgrade. @param row with the service's clock at that very page */
export function judgeRow(upgrade: Upgrade, row: InventoryRow, context: RowContext): RowVerdict {
  if (isPollUnderWay(upgrade, context.at)) return 'none';
  return rulesOf(upgrade).rows?.judge(upgrade, row, context) ?? 'none';
}

/** What it means for an upgrade that the service would start another one of its collector. @param row as the list shows it */
export function judgeOffer(upgrade: Upgrade, row: InventoryRow, context: RowContext): RowVerdict {
  if (isPollUnderWay(upgrade, context.at)) return 'none';
  const { rows } = rulesOf(upgrade);
  return (rows?.judgeOffer ?? rows?.judge)?.(upgrade, row, context) ?? 'none';
}

/** What it means for an upgrade that the service would start no other one of its collector, to any build. */
export function judgeUnlisted(upgrade: Upgrade, context: UnlistedContext): UnlistedVerdict {
  if (isPollUnderWay(upgrade, context.at)) return 'none';
  return rulesOf(upgrade).rows?.judgeUnlisted?.(upgrade, context) ?? 'none';
}

/** Whether the task of an upgrade is to be polled now, where no list is read that shows its end. */
export function isTaskPollDue(upgrade: Upgrade, context: UnlistedContext): boolean {
  if (isPollUnderWay(upgrade, context.at)) return false;
  return rulesOf(upgrade).rows?.isTaskPollDue?.(upgrade, context) ?? false;
}

// A write now would only make that poll stale. One that failed is repeated soon.
function isPollUnderWay(upgrade: Upgrade, at: EpochMs): boolean {
  return (dueAtOf(upgrade) ?? at) <= at || upgrade.tally.failedPolls > 0;
}

/** True for an upgrade whose polls a page can take over, so that it counts for how often pages are read. */
export function isWatched(upgrade: Upgrade): boolean {
  return rulesOf(upgrade).rows?.isWatched(upgrade) ?? false;
}

/** True when it matters whether the service answers others, while it gives no answer about this one. */
export function isQuestionable(
  upgrade: Upgrade,
  failure: ServiceFailure,
  at: EpochMs,
  policy: Policy,
): boolean {
  const isTimeUp = rulesOf(upgrade).polls?.isTimeUp(upgrade, at, policy) ?? false;
  return failure.kind === 'unavailable' && isTimeUp;
}
