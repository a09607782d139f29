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
  firstTaskPollAt,
  firstVerifyPollAt,
  longRetryAt,
  nextAgainAt,
  nextDeferredPollAt,
  retryAt,
} from './poll-schedule.ts';

/** What the rules need beside the record. */
export interface EvolveContext {
  readonly policy: Policy;
  /** A create sent longer ago than this has been answered, or never will be. */
  readonly answerWithinMs: DurationMs;
  /** From -1 to 1, drawn by the caller. */
  readonly jitter: number;
}

/** When and why an upgrade leaves its state. */
export interface Cause {
  readonly at: EpochMs;
  readonly reason: UpgradeReason;
}

/** The same upgrade in another state, or with other data of its state: the progress is replaced as a whole. */
export function to(
  upgrade: Upgrade,
  progress: UpgradeProgress,
  changes: Partial<UpgradeTally> = {},
): Upgrade {
  const tally = tallyIn(progress.state, { ...upgrade.tally, ...changes });
  return { identity: upgrade.identity, tally, progress, rev: upgrade.rev + 1 };
}

/** What is counted in this state: some of it ends with the state it belongs to. */
function tallyIn(state: UpgradeProgress['state'], tally: UpgradeTally): UpgradeTally {
  // Nearly always there is nothing to leave out.
  if (!('unansweredSince' in tally || 'deferredMs' in tally || 'turnChanges' in tally)) return tally;
  const { unansweredSince: _answered, deferredMs, turnChanges, ...kept } = tally;
  const isBefore = isNotStarted(state) || state === 'starting';
  const hasTurn = state === 'queued' || state === 'starting';
  return {
    ...kept,
    ...(isBefore && deferredMs !== undefined ? { deferredMs } : {}),
    ...(hasTurn && turnChanges !== undefined ? { turnChanges } : {}),
  };
}

/** It was admitted: a slot is its own. */
export function takeTurn(
  upgrade: UpgradeIn<'pending' | 'retrying'>,
  { startBy, changes }: FactOf<'admitted'>,
  waiting: Omit<ProgressIn<'queued'>, 'state' | 'startBy'>,
): Upgrade {
  const turn = changes === undefined ? {} : { turnChanges: changes };
  return to(upgrade, { state: 'queued', ...waiting, startBy }, turn);
}

/** Its slot goes back, and no attempt is spent. */
export function putBack(upgrade: UpgradeIn<'queued' | 'starting'>, { at, reason }: Cause): Upgrade {
  if (upgrade.tally.attempts === 0) return to(upgrade, { state: 'pending', reason });
  return to(upgrade, { state: 'retrying', dueAt: at, reason });
}

/** Its task runs. */
export function run(
  upgrade: Upgrade,
  { taskId, startedAt }: { readonly taskId: string | null; readonly startedAt: EpochMs },
  { policy }: EvolveContext,
): Upgrade {
  const { attempts, firstStartedAt } = upgrade.tally;
  return to(
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

/** A task of ours runs, whose id was lost with the answer to its create. */
export function adopt(upgrade: Upgrade, startedAt: EpochMs, context: EvolveContext): Upgrade {
  return run(upgrade, { taskId: null, startedAt }, context);
}

/** Its task is over, and the collector has still to come back. */
export function verify(
  upgrade: Upgrade,
  ended: { readonly at: EpochMs; readonly serviceAt: EpochMs | null; readonly late: boolean },
  { policy }: EvolveContext,
): Upgrade {
  const { taskId, startedAt } =
    upgrade.progress.state === 'upgrading' ? upgrade.progress : { taskId: null, startedAt: ended.at };
  return to(
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

/** The build was found on the collector, without a task that said so. */
export function verifyLate(
  upgrade: Upgrade,
  { at, serviceAt }: CollectorSeen,
  context: EvolveContext,
): Upgrade {
  return verify(upgrade, { at, serviceAt, late: true }, context);
}

/** Waits for a condition, for as long as the policy has it wait in all until it is upgrading. */
export function defer(
  upgrade: Upgrade,
  condition: ProgressIn<'deferred'>['condition'],
  { at, reason }: Cause,
  { policy }: EvolveContext,
): Upgrade {
  const { deferredMs } = upgrade.tally;
  if (deferredMs !== undefined && deferredMs >= policy.defer.upToMs)
    return waitedInVain(upgrade, { at, reason }, policy);
  const since = at - (deferredMs ?? 0);
  const dueAt = nextDeferredPollAt({ since, at }, policy);
  return to(upgrade, { state: 'deferred', condition, since, dueAt, reason }, { failedPolls: 0 });
}

export function waitedInVain(
  upgrade: Upgrade,
  { at, reason: before }: Cause,
  { defer: { upToMs: forMs } }: Policy,
): Upgrade {
  return end(upgrade, 'withdrawn', at, { kind: 'waitedInVain', before, forMs });
}

/** What the message of a failed task asks for. @param upgrade with the attempt that failed counted in */
export function afterTaskFailed(
  upgrade: Upgrade,
  { at, message }: { readonly at: EpochMs; readonly message: string },
  context: EvolveContext,
): Upgrade {
  const reason = { kind: 'task', message: message.trim() } as const;
  const meaning = classifyTaskMessage(message, context.policy.messageRules);
  switch (meaning) {
    case 'permanent':
      return fail(upgrade, 'permanent', at, reason);
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

/** A failure whose cause is not known is tried once more. @param upgrade with the attempt that failed counted in */
export function afterUnexplained(upgrade: Upgrade, { at, reason }: Cause, context: EvolveContext): Upgrade {
  const { unexplained } = upgrade.tally;
  if (unexplained > 0) return fail(upgrade, 'permanent', at, { kind: 'unexplainedTwice', last: reason });
  return retryOrFail(count(upgrade, { unexplained: unexplained + 1 }), { at, reason }, context);
}

/** @param upgrade with the attempt that failed counted in */
export function retryOrFail(
  upgrade: Upgrade,
  { at, reason }: Cause,
  { policy, jitter }: EvolveContext,
  dueAt: EpochMs = retryAt(at, upgrade.tally.attempts, jitter, policy),
): Upgrade {
  const { attempts } = upgrade.tally;
  const { maxAttempts: attemptsMax } = policy.retry;
  if (attempts >= attemptsMax)
    return fail(upgrade, 'retry', at, { kind: 'attemptsSpent', attempts, attemptsMax, last: reason });
  return to(upgrade, { state: 'retrying', dueAt, reason }, { failedPolls: 0 });
}

/** The same record with another count, before it enters another state. */
export function count<Of extends Upgrade>(upgrade: Of, changes: Partial<UpgradeTally>): Of {
  return { ...upgrade, tally: { ...upgrade.tally, ...changes } };
}

/** The same upgrade with one more attempt spent. */
export function spendAttempt<Of extends Upgrade>(upgrade: Of): Of {
  return count(upgrade, { attempts: upgrade.tally.attempts + 1 });
}

/** Nothing learned: the same poll a little later. No attempt is spent. */
export function pollAgain(upgrade: UpgradeIn<PolledState>, at: EpochMs, { policy }: EvolveContext): Upgrade {
  const { failedPolls } = upgrade.tally;
  const dueAt = nextAgainAt(at, failedPolls, policy);
  return to(upgrade, { ...upgrade.progress, dueAt }, { failedPolls: failedPolls + 1 });
}

/** It has not started: leaving the rollout is nobody's failure. */
export function withdraw(upgrade: Upgrade, { at, reason }: Cause): Upgrade {
  return end(upgrade, 'withdrawn', at, reason);
}

/** It may be upgrading, and nobody can watch it to its end. */
export function abandon(upgrade: Upgrade, { at, reason }: Cause): Upgrade {
  return fail(upgrade, 'unconfirmed', at, reason);
}

/** An end that is nobody's failure. */
export function end(
  upgrade: Upgrade,
  state: 'succeeded' | 'withdrawn' | 'rolledBack',
  at: EpochMs,
  reason: UpgradeReason,
): Upgrade {
  return to(upgrade, { state, endedAt: at, reason, weight: 0, lost: false });
}

/** An end that counts as one failure of its wave and stratum (DESIGN §4, Failures). */
export function fail(
  upgrade: Upgrade,
  failureClass: UpgradeFailureClass,
  at: EpochMs,
  reason: UpgradeReason,
): Upgrade {
  const state = failureClass === 'timedOut' || failureClass === 'unconfirmed' ? failureClass : 'failed';
  return to(upgrade, { state, endedAt: at, reason, weight: 1, lost: false, failureClass });
}

/** A collector that did not come back weighs more than one that failed (DESIGN §4, Failures). Only an operator's `retry` tries it again. */
export function lose(upgrade: Upgrade, { at, reason }: Cause, { lostWeight: weight }: Policy): Upgrade {
  const failureClass = 'unconfirmed';
  return to(upgrade, { state: failureClass, endedAt: at, reason, weight, lost: true, failureClass });
}
