import { assertNever } from '../../base/assert.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { formatDuration } from '../../base/time.ts';
import type { Policy } from '../model/policy.ts';
import {
  isNotStarted,
  type Upgrade,
  type UpgradeFailureClass,
  type UpgradeProgress,
  type UpgradingProgress,
  type VerifyingProgress,
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

export type In<State extends Upgrade['state']> = Extract<Upgrade, { state: State }>;

type Changes = Partial<
  Pick<
    Upgrade,
    | 'attempts'
    | 'createsInDoubt'
    | 'unexplained'
    | 'failedPolls'
    | 'deferredMs'
    | 'turnChanges'
    | 'firstStartedAt'
  >
>;

export function verify(
  upgrade: Upgrade,
  ended: { at: EpochMs; serviceAt: EpochMs | null; late: boolean },
  context: EvolveContext,
): Upgrade {
  const running = upgrade.state === 'upgrading' ? upgrade : undefined;
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
    { failedPolls: 0, firstStartedAt: upgrade.firstStartedAt ?? ended.at },
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
    { failedPolls: 0, firstStartedAt: upgrade.firstStartedAt ?? startedAt },
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
  const { deferredMs } = upgrade;
  if (deferredMs !== undefined && deferredMs >= upToMs) return waitedInVain(upgrade, reason, at, context);
  const since = at - (deferredMs ?? 0);
  const dueAt = nextDeferredPollAt({ since, at }, context.policy);
  return to(upgrade, { state: 'deferred', condition, since, dueAt, reason }, { failedPolls: 0 });
}

export function waitedInVain(upgrade: Upgrade, reason: string, at: EpochMs, context: EvolveContext): Upgrade {
  return end(upgrade, 'withdrawn', at, `${reason}, for ${formatDuration(context.policy.defer.upToMs)}`);
}

export function putBack(upgrade: Upgrade, at: EpochMs, reason: string): Upgrade {
  if (upgrade.attempts === 0) return to(upgrade, { state: 'pending', reason });
  return to(upgrade, { state: 'retrying', dueAt: at, reason });
}

export function afterTaskFailed(
  upgrade: In<'upgrading'>,
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
      if (upgrade.unexplained > 0)
        return fail(upgrade, 'permanent', at, `failed twice without a known cause: ${words}`);
      return retryOrFail({ ...upgrade, unexplained: upgrade.unexplained + 1 }, words, at, context);
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
  dueAt: EpochMs = retryAt(at, upgrade.attempts, context.jitter, context.policy),
): Upgrade {
  const { maxAttempts } = context.policy.retry;
  if (upgrade.attempts >= maxAttempts) {
    return fail(upgrade, 'retry', at, `attempt ${upgrade.attempts} of ${maxAttempts}: ${words}`);
  }
  return to(upgrade, { state: 'retrying', dueAt, reason: words }, { failedPolls: 0 });
}

export function timeOut(upgrade: In<'upgrading'>, at: EpochMs, context: EvolveContext): Upgrade {
  return fail(upgrade, 'timedOut', at, `no end within ${formatDuration(context.policy.upgrade.deadlineMs)}`);
}

/** Nothing learned: the same again a little later. No attempt is spent. */
export function again(
  upgrade: In<'queued' | 'starting' | 'upgrading' | 'verifying' | 'deferred'>,
  at: EpochMs,
  context: EvolveContext,
): Upgrade {
  const dueAt = nextAgainAt(at, upgrade.failedPolls, context.policy);
  const failedPolls = { failedPolls: upgrade.failedPolls + 1 };
  switch (upgrade.state) {
    case 'queued': {
      const { freshAt, heartbeatAfter, startBy, late, refused } = upgrade;
      return to(
        upgrade,
        {
          state: 'queued',
          dueAt,
          freshAt,
          ...(heartbeatAfter === undefined ? {} : { heartbeatAfter }),
          startBy,
          ...(late === undefined ? {} : { late }),
          ...(refused === undefined ? {} : { refused }),
        },
        failedPolls,
      );
    }
    case 'starting': {
      const { sentAt, startBy } = upgrade;
      return to(upgrade, { state: 'starting', sentAt, dueAt, startBy }, failedPolls);
    }
    case 'upgrading':
      return to(upgrade, { ...progress(upgrade), dueAt }, failedPolls);
    case 'verifying':
      return to(upgrade, { ...verification(upgrade), dueAt }, failedPolls);
    case 'deferred': {
      const { condition, since, reason } = upgrade;
      return to(upgrade, { state: 'deferred', condition, since, reason, dueAt }, failedPolls);
    }
    default:
      return assertNever(upgrade);
  }
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
export function to(upgrade: Upgrade, next: UpgradeProgress, changes: Changes = {}): Upgrade {
  const deferredMs = changes.deferredMs ?? upgrade.deferredMs;
  const isBefore = isNotStarted(next) || next.state === 'starting';
  const turnChanges = changes.turnChanges ?? upgrade.turnChanges;
  const hasTurn = next.state === 'queued' || next.state === 'starting';
  return {
    rolloutId: upgrade.rolloutId,
    collectorId: upgrade.collectorId,
    collectorName: upgrade.collectorName,
    wave: upgrade.wave,
    order: upgrade.order,
    fromBuild: upgrade.fromBuild,
    toBuild: upgrade.toBuild,
    lane: upgrade.lane,
    stratum: upgrade.stratum,
    domains: upgrade.domains,
    eligibleAt: upgrade.eligibleAt,
    ...(upgrade.offeredAt === undefined ? {} : { offeredAt: upgrade.offeredAt }),
    ...(upgrade.ephemeral === true ? { ephemeral: true as const } : {}),
    rev: upgrade.rev + 1,
    attempts: changes.attempts ?? upgrade.attempts,
    createsInDoubt: changes.createsInDoubt ?? upgrade.createsInDoubt,
    unexplained: changes.unexplained ?? upgrade.unexplained,
    failedPolls: changes.failedPolls ?? upgrade.failedPolls,
    ...(isBefore && deferredMs !== undefined ? { deferredMs } : {}),
    ...(hasTurn && turnChanges !== undefined ? { turnChanges } : {}),
    firstStartedAt: changes.firstStartedAt ?? upgrade.firstStartedAt,
    ...next,
  };
}

export function progress(upgrade: In<'upgrading'>): UpgradingProgress {
  const { state, taskId, startedAt, polledAt, quietAt, deadlineAt, dueAt, ending } = upgrade;
  const quiet = quietAt === undefined ? {} : { quietAt };
  return { state, taskId, startedAt, polledAt, ...quiet, deadlineAt, dueAt, ending };
}

export function verification(upgrade: In<'verifying'>): VerifyingProgress {
  const { state, taskId, startedAt, verifyBy, dueAt, endedServiceAt, baselineHeartbeatAt, late } = upgrade;
  return { state, taskId, startedAt, verifyBy, dueAt, endedServiceAt, baselineHeartbeatAt, late };
}
