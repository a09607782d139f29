import { assertNever } from '../../base/assert.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { UpgradeFailureClass } from '../../base/vocabulary.ts';
import type { Policy } from '../model/policy.ts';
import {
  isNotStarted,
  type PolledState,
  type ProgressIn,
  type Upgrade,
  type UpgradeIn,
  type UpgradeProgress,
  type UpgradeTally,
} from '../model/upgrade.ts';
import type { UpgradeReason } from '../model/upgrade-reason.ts';
import type { CollectorSeen, FactOf } from './facts.ts';
import { classifyTaskMessage } from './failure-classes.ts';
import {
  firstDeferredPollAt,
  firstTaskPollAt,
  firstVerifyPollAt,
  longRetryAt,
  nextAgainAt,
  putBackWaitMs,
  retryAt,
} from './poll-schedule.ts';

/** Input of the rules beside record and fact. */
export interface EvolveContext {
  readonly policy: Policy;
  /** No answer or effect of a create comes later than this. */
  readonly answerWithinMs: DurationMs;
  /** Random, from -1 to 1. */
  readonly jitter: number;
}

/** When and why an upgrade leaves its state. */
export interface Cause {
  readonly at: EpochMs;
  readonly reason: UpgradeReason;
}

/** Moves an upgrade to another state, or changes the data of its state. The progress is replaced as a whole. */
export function enterState(
  upgrade: Upgrade,
  progress: UpgradeProgress,
  changes: Partial<UpgradeTally> = {},
): Upgrade {
  const tally = tallyIn(progress.state, { ...upgrade.tally, ...changes });
  return { identity: upgrade.identity, tally, progress, rev: upgrade.rev + 1 };
}

/** Drops the parts of the tally that do not belong to this state. */
function tallyIn(state: UpgradeProgress['state'], tally: UpgradeTally): UpgradeTally {
  // The usual case, without a copy.
  if (!partial.some((part) => part in tally)) return tally;
  const { unansweredSince: _answered, deferredMs, putBacks, ...more } = tally;
  const { turnChanges, turnPaceMs, inDoubtUntil, ...kept } = more;
  const isBefore = isNotStarted(state) || state === 'starting';
  const hasTurn = state === 'queued' || state === 'starting';
  return {
    ...kept,
    ...(isBefore && deferredMs !== undefined ? { deferredMs } : {}),
    ...(hasTurn && turnChanges !== undefined ? { turnChanges } : {}),
    ...(hasTurn && turnPaceMs !== undefined ? { turnPaceMs } : {}),
    ...(hasTurn && inDoubtUntil !== undefined ? { inDoubtUntil } : {}),
    ...(isNotStarted(state) && putBacks !== undefined ? { putBacks } : {}),
  };
}

/** Parts of the tally that only some states have. */
const partial = [
  'unansweredSince',
  'deferredMs',
  'turnChanges',
  'turnPaceMs',
  'inDoubtUntil',
  'putBacks',
] as const;

/** Queues an admitted upgrade, which has a slot now. */
export function takeTurn(
  upgrade: UpgradeIn<'pending' | 'retrying'>,
  { startBy, changes, paceMs }: FactOf<'admitted'>,
  waiting: Omit<ProgressIn<'queued'>, 'state' | 'startBy'>,
): Upgrade {
  const turn = {
    ...(changes === 0 ? {} : { turnChanges: changes }),
    ...(paceMs === undefined ? {} : { turnPaceMs: paceMs }),
  };
  return enterState(upgrade, { state: 'queued', ...waiting, startBy }, turn);
}

/**
 * Releases the slot without spending an attempt. What prevents the create should also prevent the next admission. Where it
 * does not, the upgrade would turn for ever, so it waits from the third time on.
 */
export function putBack(upgrade: UpgradeIn<'queued' | 'starting'>, { at, reason }: Cause): Upgrade {
  const putBacks = (upgrade.tally.putBacks ?? 0) + 1;
  const waitMs = putBackWaitMs(putBacks);
  if (waitMs === 0 && upgrade.tally.attempts === 0)
    return enterState(upgrade, { state: 'pending', reason }, { putBacks });
  return enterState(upgrade, { state: 'retrying', dueAt: at + waitMs, reason }, { putBacks });
}

/** Enters `upgrading`: the task is running. */
export function beginTask(
  upgrade: Upgrade,
  { taskId, startedAt }: { readonly taskId: string | null; readonly startedAt: EpochMs },
  { policy }: EvolveContext,
): Upgrade {
  const { attempts, firstStartedAt } = upgrade.tally;
  return enterState(
    upgrade,
    {
      state: 'upgrading',
      taskId,
      startedAt,
      polledAt: startedAt,
      deadlineAt: startedAt + policy.upgrade.deadlineMs,
      dueAt: firstTaskPollAt(startedAt, policy),
      ending: null,
    },
    {
      attempts: taskId === null ? attempts : attempts + 1,
      failedPolls: 0,
      firstStartedAt: firstStartedAt ?? startedAt,
    },
  );
}

/** Enters `upgrading` for a task of ours whose id was lost with the answer to its create. */
export function adoptTask(upgrade: Upgrade, startedAt: EpochMs, context: EvolveContext): Upgrade {
  return beginTask(upgrade, { taskId: null, startedAt }, context);
}

/**
 * Stores that the list of upgradable collectors left out the collector of an adopted upgrade. Not every service leaves out
 * collectors in upgrade. Only where it left out this one does a later list with it show the end.
 */
export function noteLeftOut(upgrade: Upgrade, { upgradable, alive, at }: CollectorSeen): Upgrade {
  const { progress } = upgrade;
  if (progress.state !== 'upgrading' || upgradable !== false || !alive) return upgrade;
  return { ...upgrade, progress: { ...progress, unchangedAt: at } };
}

/** Enters `verifying`: the task has ended, and the collector has to return. */
export function beginVerification(
  upgrade: Upgrade,
  ended: { readonly at: EpochMs; readonly serviceAt: EpochMs | null; readonly late: boolean },
  { policy }: EvolveContext,
): Upgrade {
  const { taskId, startedAt } =
    upgrade.progress.state === 'upgrading' ? upgrade.progress : { taskId: null, startedAt: ended.at };
  return enterState(
    upgrade,
    {
      state: 'verifying',
      taskId,
      startedAt,
      verifyBy: ended.at + policy.upgrade.verifyWithinMs,
      dueAt: firstVerifyPollAt(ended.at, policy),
      endedServiceAt: ended.serviceAt,
      baselineHeartbeatAt: null,
      late: ended.late,
    },
    { failedPolls: 0, firstStartedAt: upgrade.tally.firstStartedAt ?? ended.at },
  );
}

/** Enters `verifying` because the collector shows the build although no task was seen to end. */
export function verifyLate(
  upgrade: Upgrade,
  { at, serviceAt }: CollectorSeen,
  context: EvolveContext,
): Upgrade {
  return beginVerification(upgrade, { at, serviceAt, late: true }, context);
}

/** Enters `deferred`. The policy limits the total waiting time until the upgrade starts. */
export function deferUpgrade(
  upgrade: Upgrade,
  condition: ProgressIn<'deferred'>['condition'],
  { at, reason }: Cause,
  { policy }: EvolveContext,
): Upgrade {
  const { deferredMs } = upgrade.tally;
  if (deferredMs !== undefined && deferredMs >= policy.defer.upToMs)
    return deferExpired(upgrade, { at, reason }, policy);
  const since = at - (deferredMs ?? 0);
  const dueAt = firstDeferredPollAt({ since, at }, policy);
  return enterState(upgrade, { state: 'deferred', condition, since, dueAt, reason }, { failedPolls: 0 });
}

export function deferExpired(
  upgrade: Upgrade,
  { at, reason: before }: Cause,
  { defer: { upToMs: forMs } }: Policy,
): Upgrade {
  return endUpgrade(upgrade, 'withdrawn', at, { kind: 'deferExpired', before, forMs });
}

/** Retries or fails by the message of a failed task. @param upgrade with the failed attempt counted */
export function afterTaskFailed(
  upgrade: Upgrade,
  { at, message }: { readonly at: EpochMs; readonly message: string },
  context: EvolveContext,
): Upgrade {
  const reason = { kind: 'task', message: message.trim() } as const;
  const meaning = classifyTaskMessage(message, context.policy.messageRules);
  switch (meaning) {
    case 'permanent':
      return failUpgrade(upgrade, 'permanent', at, reason);
    case 'retry':
      return retryOrFail(upgrade, { at, reason }, context);
    case 'retryLater':
      return retryOrFail(upgrade, { at, reason }, context, longRetryAt(at, context.jitter, context.policy));
    case 'unexplained':
      return afterUnexplained(upgrade, { at, reason }, context);
    default:
      return assertNever(meaning);
  }
}

/** Retries a failure without a known cause once. @param upgrade with the failed attempt counted */
export function afterUnexplained(upgrade: Upgrade, { at, reason }: Cause, context: EvolveContext): Upgrade {
  const { unexplained } = upgrade.tally;
  if (unexplained > 0)
    return failUpgrade(upgrade, 'permanent', at, { kind: 'unexplainedTwice', last: reason });
  return retryOrFail(withTally(upgrade, { unexplained: unexplained + 1 }), { at, reason }, context);
}

/** Retries while attempts remain, then fails. @param upgrade with the failed attempt counted */
export function retryOrFail(
  upgrade: Upgrade,
  { at, reason }: Cause,
  { policy, jitter }: EvolveContext,
  dueAt: EpochMs = retryAt(at, upgrade.tally.attempts, jitter, policy),
): Upgrade {
  const { attempts } = upgrade.tally;
  const { maxAttempts: attemptsMax } = policy.retry;
  if (attempts >= attemptsMax)
    return failUpgrade(upgrade, 'retry', at, { kind: 'attemptsSpent', attempts, attemptsMax, last: reason });
  return enterState(upgrade, { state: 'retrying', dueAt, reason }, { failedPolls: 0 });
}

/** Changes the tally without changing the state. */
export function withTally<Of extends Upgrade>(upgrade: Of, changes: Partial<UpgradeTally>): Of {
  return { ...upgrade, tally: { ...upgrade.tally, ...changes } };
}

/** Adds one spent attempt. */
export function spendAttempt<Of extends Upgrade>(upgrade: Of): Of {
  return withTally(upgrade, { attempts: upgrade.tally.attempts + 1 });
}

/** Repeats a poll a little later, without spending an attempt. */
export function pollAgain(upgrade: UpgradeIn<PolledState>, at: EpochMs, { policy }: EvolveContext): Upgrade {
  const { failedPolls } = upgrade.tally;
  const dueAt = nextAgainAt(at, failedPolls, policy);
  return enterState(upgrade, { ...upgrade.progress, dueAt }, { failedPolls: failedPolls + 1 });
}

/** Ends an upgrade that has not started. This is not a failure. */
export function withdrawUpgrade(upgrade: Upgrade, { at, reason }: Cause): Upgrade {
  return endUpgrade(upgrade, 'withdrawn', at, reason);
}

/** Ends an upgrade that may be running but can't be watched any more. */
export function abandonUpgrade(upgrade: Upgrade, { at, reason }: Cause): Upgrade {
  return failUpgrade(upgrade, 'unconfirmed', at, reason);
}

/** Ends an upgrade without counting a failure. */
export function endUpgrade(
  upgrade: Upgrade,
  state: 'succeeded' | 'withdrawn' | 'rolledBack',
  at: EpochMs,
  reason: UpgradeReason,
): Upgrade {
  return enterState(upgrade, { state, endedAt: at, reason, weight: 0, lost: false });
}

/** Ends an upgrade as one failure of its wave and stratum (DESIGN §4, Failures). */
export function failUpgrade(
  upgrade: Upgrade,
  failureClass: UpgradeFailureClass,
  at: EpochMs,
  reason: UpgradeReason,
): Upgrade {
  const state = failureClass === 'timedOut' || failureClass === 'unconfirmed' ? failureClass : 'failed';
  return enterState(upgrade, { state, endedAt: at, reason, weight: 1, lost: false, failureClass });
}

/**
 * Ends an upgrade whose collector was lost. It weighs more than a failure, and only an operator retries it (DESIGN §4,
 * Failures).
 */
export function failAsLost(upgrade: Upgrade, { at, reason }: Cause, { lostWeight: weight }: Policy): Upgrade {
  const failureClass = 'unconfirmed';
  return enterState(upgrade, { state: failureClass, endedAt: at, reason, weight, lost: true, failureClass });
}
