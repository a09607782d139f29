import { assertNever } from '../../base/assert.ts';
import { isSameBuild } from '../../base/build-version.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { assessHeartbeat } from '../model/collector.ts';
import type { ProgressIn, TaskEnding, Upgrade, UpgradeIn } from '../model/upgrade.ts';
import type { CollectorSeen, FactOf, InventoryRow } from './facts.ts';
import { afterPollFailed, unansweredForMs } from './failed-polls.ts';
import { classifyPollFailure, describeFailure } from './failure-classes.ts';
import { mayRestart, restartSeenAt } from './heartbeats.ts';
import { nextRareTaskPollAt, nextTaskPollAt, putOff } from './poll-schedule.ts';
import {
  ignore,
  type PollLimit,
  type RowContext,
  type RowVerdict,
  type StateRules,
  type UnlistedContext,
  type UnlistedVerdict,
} from './state-rules.ts';
import type { Step } from './step.ts';
import {
  abandon,
  afterTaskFailed,
  afterUnexplained,
  type EvolveContext,
  fail,
  spendAttempt,
  to,
  verify,
  verifyLate,
} from './transitions.ts';

type Upgrading = UpgradeIn<'upgrading'>;

// A restart that lasts longer than this, by the service's clock, shows its end on no list, so that polls follow it, too.
const restartMaxMs: DurationMs = 90_000;

// A poll comes with almost every page while a restart lasts (a minute at most), then less and less often.
const pollShareOfPeriod = 0.9;
const pollShareOfSilence = 0.3;
const silenceExpectMs: DurationMs = 5 * 60_000;

// The next reading may come late, and the poll must not come before it.
const unlistedPeriods = 3;

// The build is there, so the end is near: three times as often as polls are without a page.
const pollShareOfAge = 0.05;

const polls: PollLimit<'upgrading'> = {
  isTimeUp: ({ progress }, at) => at >= progress.deadlineAt,
  unansweredForMs,
  // The collector may still show what its task does not.
  giveUp: (upgrade, { at, of, failure }, context) =>
    of === 'task'
      ? judgeCollector(upgrade, at, { kind: 'deadline' })
      : fail(upgrade, 'timedOut', at, {
          kind: 'endUnseen',
          withinMs: context.policy.upgrade.deadlineMs,
          detail: describeFailure(failure),
        }),
};

/** A task of ours runs at the service. It is polled by its id; without one, by the collector's build. */
export const upgrading: StateRules<'upgrading'> = {
  nextStep,
  polls,
  rows: {
    isWatched: ({ progress: { taskId, ending } }) => taskId !== null && ending === null,
    judge: judgeRow,
    judgeOffer,
    judgeUnlisted,
    isTaskPollDue,
  },
  on: {
    // The answer may come after another daemon has taken the create for lost: it still names our task.
    created: (upgrade, { taskId }) => {
      if (upgrade.progress.taskId !== null) return upgrade;
      return to(spendAttempt(upgrade), { ...upgrade.progress, taskId });
    },
    taskSeen: afterTaskSeen,
    collectorSeen: afterCollectorSeen,
    changeHinted: afterChangeHinted,
    unchanged: afterUnchanged,
    pollFailed: (upgrade, fact, context) =>
      fact.of === 'task' && classifyPollFailure(fact.failure) === 'gone'
        ? judgeCollector(upgrade, fact.at, { kind: 'missing' })
        : afterPollFailed(upgrade, fact, context, polls),
    abandoned: abandon,
    ...ignore('admitted', 'putBack', 'claimed'),
    ...ignore('createSent', 'createNotSent', 'createFailed', 'buildsSeen', 'withdrawn'),
    ...ignore('departed', 'regressed', 'retryAsked', 'rejoined', 'rolledBack'),
  },
};

function nextStep({ progress: { taskId, ending } }: Upgrading): Step {
  if (ending !== null) return { do: 'pollCollector', why: 'judge', askUpgradable: false };
  if (taskId === null) return { do: 'pollCollector', why: 'watchBuild', askUpgradable: true };
  return { do: 'pollTask', taskId };
}

function afterTaskSeen(upgrade: Upgrading, fact: FactOf<'taskSeen'>, context: EvolveContext): Upgrade {
  const { at, status, serviceAt, message } = fact;
  const { ending, polledAt, deadlineAt } = upgrade.progress;
  if (ending !== null) return upgrade;
  if (status === 2) return verify(upgrade, { at, serviceAt, late: false }, context);
  if (status === 3)
    return judgeCollector(upgrade, at, { kind: 'failed', message, seenDelayMs: at - polledAt });
  // 0, 1, 6, and every value that is not specified (P13): it still runs.
  if (at >= deadlineAt) return judgeCollector(upgrade, at, { kind: 'deadline' });
  return pollLater(upgrade, { ...upgrade.progress, polledAt: at }, at, context);
}

/** The task is over, or out of reach: the collector itself is polled next. */
function judgeCollector(upgrade: Upgrading, at: EpochMs, ending: TaskEnding): Upgrade {
  return to(upgrade, { ...upgrade.progress, dueAt: at, ending }, { failedPolls: 0 });
}

function pollLater(
  upgrade: Upgrading,
  progress: ProgressIn<'upgrading'>,
  at: EpochMs,
  { policy }: EvolveContext,
): Upgrade {
  return to(upgrade, { ...progress, dueAt: nextTaskPollAt({ ...progress, at }, policy) }, { failedPolls: 0 });
}

function afterCollectorSeen(upgrade: Upgrading, seen: CollectorSeen, context: EvolveContext): Upgrade {
  const { taskId, ending } = upgrade.progress;
  if (taskId !== null && ending === null) return upgrade;
  if (isSameBuild(seen.build, upgrade.identity.toBuild)) return verifyLate(upgrade, seen, context);
  return ending === null
    ? watchAdopted(upgrade, seen, context)
    : judgeEnding(upgrade, ending, seen.at, context);
}

/** The collector, polled after its task stopped without success, does not show the target. */
function judgeEnding(upgrade: Upgrading, ending: TaskEnding, at: EpochMs, context: EvolveContext): Upgrade {
  switch (ending.kind) {
    case 'failed':
      return afterTaskFailed(upgrade, { at, message: ending.message }, context);
    case 'missing':
      // The service does not know the task, and the build is not there: poll until the deadline.
      if (at >= upgrade.progress.deadlineAt) return timeOut(upgrade, at, context);
      return pollLater(upgrade, { ...upgrade.progress, ending: null }, at, context);
    case 'deadline':
      return timeOut(upgrade, at, context);
    default:
      return assertNever(ending);
  }
}

/** An adopted upgrade: the service would take a new one, and it does not restart, so it is over without the build. */
function watchAdopted(upgrade: Upgrading, seen: CollectorSeen, context: EvolveContext): Upgrade {
  const { at } = seen;
  const isDeadline = at >= upgrade.progress.deadlineAt;
  const isOver = seen.upgradable === true && !mayRestart(seen);
  // The heartbeat may be the last one before its restart, so a second poll judges it.
  if (isOver && upgrade.tally.failedPolls === 0 && !isDeadline)
    return to(upgrade, { ...upgrade.progress, dueAt: restartSeenAt(at, 0, context) }, { failedPolls: 1 });
  if (isOver || (seen.upgradable === true && isDeadline)) {
    return afterUnexplained(spendAttempt(upgrade), { at, reason: { kind: 'adoptedEnded' } }, context);
  }
  return isDeadline ? timeOut(upgrade, at, context) : pollLater(upgrade, upgrade.progress, at, context);
}

function timeOut(upgrade: Upgrading, at: EpochMs, { policy }: EvolveContext): Upgrade {
  return fail(upgrade, 'timedOut', at, { kind: 'noEnd', withinMs: policy.upgrade.deadlineMs });
}

/** A restart, or the build itself, shows that the task is near its end; an intermediate build shows nothing (collector-api.md §9). */
function judgeRow(
  { identity, progress }: Upgrading,
  row: InventoryRow,
  { at, periodMs, policy, isOfferRead }: RowContext,
): RowVerdict {
  const { startedAt, polledAt, taskId, ending } = progress;
  const isAtTarget = isSameBuild(row.build, identity.toBuild);
  if (ending !== null) return 'none';
  if (taskId === null) return isAtTarget ? 'collectorSeen' : 'none';
  const { lastSeenAlive, serviceAt } = row;
  const heartbeat = assessHeartbeat(lastSeenAlive, serviceAt);
  const isSilent = !row.alive || heartbeat === 'late' || heartbeat === 'silent';
  if (!isAtTarget && !isSilent) return 'unchanged';
  // By the service's clock; where that is not known, it may have been silent since the task began.
  const silentMs = lastSeenAlive === null || serviceAt === null ? at - startedAt : serviceAt - lastSeenAlive;
  const isRestart = silentMs < restartMaxMs;
  if (!isAtTarget && isOfferRead && isRestart) return 'unchanged';
  const silenceShare = pollShareOfSilence * (policy.upgrade.expectMs / silenceExpectMs);
  const spacingMs = isAtTarget ? (polledAt - startedAt) * pollShareOfAge : silentMs * silenceShare;
  return at - polledAt >= Math.max(periodMs * pollShareOfPeriod, spacingMs) ? 'changeHinted' : 'unchanged';
}

/**
 * The service would start another upgrade of it, so that its task is over: it restarts, failed, or is back. The list shows less
 * than the task itself, and may be older than it seems: the task is polled.
 */
function judgeOffer(upgrade: Upgrading, row: InventoryRow, context: RowContext): RowVerdict {
  const { taskId, ending } = upgrade.progress;
  if (ending === null && taskId === null) return judgeRow(upgrade, row, context);
  return isTaskPollDue(upgrade, context) ? 'changeHinted' : 'none';
}

/** One that goes on for long is polled less and less often. */
function isTaskPollDue({ progress }: Upgrading, { at, periodMs }: UnlistedContext): boolean {
  const { startedAt, polledAt, taskId, ending } = progress;
  if (taskId === null || ending !== null) return false;
  const spacingMs = (polledAt - startedAt) * pollShareOfAge;
  return at - polledAt >= Math.max(periodMs * pollShareOfPeriod, spacingMs);
}

/** The service would start no other upgrade of it: its task goes on. Written down only where a poll would come soon. */
function judgeUnlisted({ progress }: Upgrading, { at, periodMs }: UnlistedContext): UnlistedVerdict {
  const { taskId, ending, dueAt } = progress;
  if (taskId === null || ending !== null) return 'none';
  return dueAt - at < unlistedPeriods * periodMs ? 'unchanged' : 'none';
}

function afterChangeHinted(
  upgrade: Upgrading,
  { at, unchangedAt: shownAt = 0 }: FactOf<'changeHinted'>,
): Upgrade {
  const { ending, dueAt, startedAt, unchangedAt = 0 } = upgrade.progress;
  if (ending !== null || dueAt <= at) return upgrade;
  const isNews = shownAt > Math.max(startedAt, unchangedAt);
  return to(upgrade, { ...upgrade.progress, dueAt: at, ...(isNews && { unchangedAt: shownAt }) });
}

function afterUnchanged(
  upgrade: Upgrading,
  { at, until }: FactOf<'unchanged'>,
  { policy }: EvolveContext,
): Upgrade {
  const { progress } = upgrade;
  if (progress.ending !== null || progress.taskId === null) return upgrade;
  const dueAt = putOff(progress.dueAt, at, Math.min(until, nextRareTaskPollAt(progress, policy)));
  return dueAt === progress.dueAt ? upgrade : to(upgrade, { ...progress, dueAt, unchangedAt: at });
}
