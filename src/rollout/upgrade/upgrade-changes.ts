import { assertNever } from '../../base/assert.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { formatDuration } from '../../base/time.ts';
import type { Policy } from '../model/policy.ts';
import {
  isNotStarted,
  type Upgrade,
  type UpgradeFailureClass,
  type UpgradeIn,
  type UpgradeProgress,
  type UpgradeTally,
} from '../model/upgrade.ts';
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

export function verify(
  upgrade: Upgrade,
  ended: { at: EpochMs; serviceAt: EpochMs | null; late: boolean },
  context: EvolveContext,
): Upgrade {
  const running = upgrade.progress.state === 'upgrading' ? upgrade.progress : undefined;
  return to(
    upgrade,
    {
      state: 'verifying',
      taskId: running?.taskId ?? null,
      startedAt: running?.startedAt ?? ended.at,
      verifyBy: ended.at + context.policy.upgrade.verifyWithinMs,
      dueAt: firstVerifyPollAt(ended.at, context.policy),
      endedServiceAt: ended.serviceAt,
      baselineHeartbeatAt: null,
      late: ended.late,
    },
    { failedPolls: 0, firstStartedAt: upgrade.tally.firstStartedAt ?? ended.at },
  );
}

export function adopt(upgrade: Upgrade, startedAt: EpochMs, context: EvolveContext): Upgrade {
  return to(
    upgrade,
    {
      state: 'upgrading',
      taskId: null,
      startedAt,
      polledAt: startedAt,
      deadlineAt: startedAt + context.policy.upgrade.deadlineMs,
      dueAt: firstTaskPollAt(startedAt, context.policy),
      ending: null,
    },
    { failedPolls: 0, firstStartedAt: upgrade.tally.firstStartedAt ?? startedAt },
  );
}

/** Waits for a condition, for as long as the policy has it wait in all until it is upgrading. */
export function defer(
  upgrade: Upgrade,
  condition: 'notAlive' | 'inUpgrade',
  at: EpochMs,
  reason: string,
  context: EvolveContext,
): Upgrade {
  const { upToMs } = context.policy.defer;
  const { deferredMs } = upgrade.tally;
  if (deferredMs !== undefined && deferredMs >= upToMs) return waitedInVain(upgrade, reason, at, context);
  const since = at - (deferredMs ?? 0);
  const dueAt = nextDeferredPollAt({ since, at }, context.policy);
  return to(upgrade, { state: 'deferred', condition, since, dueAt, reason }, { failedPolls: 0 });
}

export function waitedInVain(upgrade: Upgrade, reason: string, at: EpochMs, context: EvolveContext): Upgrade {
  return end(upgrade, 'withdrawn', at, `${reason}, for ${formatDuration(context.policy.defer.upToMs)}`);
}

export function putBack(upgrade: Upgrade, at: EpochMs, reason: string): Upgrade {
  if (upgrade.tally.attempts === 0) return to(upgrade, { state: 'pending', reason });
  return to(upgrade, { state: 'retrying', dueAt: at, reason });
}

export function afterTaskFailed(
  upgrade: UpgradeIn<'upgrading'>,
  message: string,
  at: EpochMs,
  context: EvolveContext,
): Upgrade {
  const words = message.trim() === '' ? 'the service gave no reason' : message.trim();
  const meaning = classifyTaskMessage(message, context.policy.messageRules);
  switch (meaning) {
    case 'permanent':
      return fail(upgrade, 'permanent', at, words);
    case 'retry':
      return retryOrFail(upgrade, words, at, context);
    case 'retryLater':
      return retryOrFail(upgrade, words, at, context, longRetryAt(at, context.jitter, context.policy));
    case 'unexplained':
      if (upgrade.tally.unexplained > 0)
        return fail(upgrade, 'permanent', at, `failed twice without a known cause: ${words}`);
      return retryOrFail(
        { ...upgrade, tally: { ...upgrade.tally, unexplained: upgrade.tally.unexplained + 1 } },
        words,
        at,
        context,
      );
    default:
      return assertNever(meaning);
  }
}

/** @param upgrade with the attempt that failed counted in */
export function retryOrFail(
  upgrade: Upgrade,
  words: string,
  at: EpochMs,
  context: EvolveContext,
  dueAt: EpochMs = retryAt(at, upgrade.tally.attempts, context.jitter, context.policy),
): Upgrade {
  const { maxAttempts } = context.policy.retry;
  if (upgrade.tally.attempts >= maxAttempts) {
    return fail(upgrade, 'retry', at, `attempt ${upgrade.tally.attempts} of ${maxAttempts}: ${words}`);
  }
  return to(upgrade, { state: 'retrying', dueAt, reason: words }, { failedPolls: 0 });
}

export function timeOut(upgrade: UpgradeIn<'upgrading'>, at: EpochMs, context: EvolveContext): Upgrade {
  return fail(upgrade, 'timedOut', at, `no end within ${formatDuration(context.policy.upgrade.deadlineMs)}`);
}

/** Nothing learned: the same again a little later. No attempt is spent. */
export function again(
  upgrade: UpgradeIn<'queued' | 'starting' | 'upgrading' | 'verifying' | 'deferred'>,
  at: EpochMs,
  context: EvolveContext,
): Upgrade {
  const dueAt = nextAgainAt(at, upgrade.tally.failedPolls, context.policy);
  const failedPolls = { failedPolls: upgrade.tally.failedPolls + 1 };
  return to(upgrade, { ...upgrade.progress, dueAt }, failedPolls);
}

/** An end that is nobody's failure. */
export function end(
  upgrade: Upgrade,
  state: 'succeeded' | 'withdrawn' | 'rolledBack',
  at: EpochMs,
  reason: string,
): Upgrade {
  return to(upgrade, { state, endedAt: at, reason, weight: 0, lost: false });
}

/** An end that counts as one failure of its wave and stratum (DESIGN §4, Failures). */
export function fail(
  upgrade: Upgrade,
  failureClass: UpgradeFailureClass,
  at: EpochMs,
  reason: string,
): Upgrade {
  const state = failureClass === 'timedOut' || failureClass === 'unconfirmed' ? failureClass : 'failed';
  return to(upgrade, { state, endedAt: at, reason, weight: 1, lost: false, failureClass });
}

/** A collector that did not come back weighs more than one that failed, and is never retried (DESIGN §4). */
export function lose(upgrade: Upgrade, at: EpochMs, reason: string, policy: Policy): Upgrade {
  return to(upgrade, {
    state: 'unconfirmed',
    endedAt: at,
    reason,
    weight: policy.lostWeight,
    lost: true,
    failureClass: 'unconfirmed',
  });
}

/** The same upgrade in another state: what belongs to the old state is left behind. */
export function to(
  upgrade: Upgrade,
  progress: UpgradeProgress,
  changes: Partial<UpgradeTally> = {},
): Upgrade {
  const { unansweredSince: _answered, deferredMs, turnChanges, ...kept } = { ...upgrade.tally, ...changes };
  const isBefore = isNotStarted(progress.state) || progress.state === 'starting';
  const hasTurn = progress.state === 'queued' || progress.state === 'starting';
  const tally = {
    ...kept,
    ...(isBefore && deferredMs !== undefined ? { deferredMs } : {}),
    ...(hasTurn && turnChanges !== undefined ? { turnChanges } : {}),
  };
  return { identity: upgrade.identity, tally, progress, rev: upgrade.rev + 1 };
}
