import { assertNever } from '../../base/assert.ts';
import { isSameBuild } from '../../base/build-version.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { assessHeartbeat } from '../model/collector.ts';
import type { ProgressIn, TaskEnding, Upgrade, UpgradeIn } from '../model/upgrade.ts';
import type { CollectorSeen, FactOf, InventoryRow } from './facts.ts';
import { afterPollFailed, failUnseen, unansweredForMs } from './failed-polls.ts';
import { classifyPollFailure } from './failure-classes.ts';
import { mayRestart, restartSeenAt } from './heartbeats.ts';
import { nextMissingTaskPollAt, nextRareTaskPollAt, nextTaskPollAt, postponePoll } from './poll-schedule.ts';
import {
  ignoreFacts,
  type PollLimit,
  type RowContext,
  type RowVerdict,
  type StateRules,
  type UnlistedContext,
  type UnlistedVerdict,
} from './state-rules.ts';
import type { Step } from './step.ts';
import {
  abandonUpgrade,
  afterTaskFailed,
  afterUnexplained,
  beginVerification,
  type EvolveContext,
  enterState,
  failUpgrade,
  noteLeftOut,
  spendAttempt,
  verifyLate,
} from './transitions.ts';

type Upgrading = UpgradeIn<'upgrading'>;

// No list shows the end of a restart that lasts longer than this by the service's clock, so it is polled, too.
const restartMaxMs: DurationMs = 90_000;

// Almost every page triggers a poll during a restart (a minute at most); then polls become rarer.
const pollShareOfPeriod = 0.9;
const pollShareOfSilence = 0.3;
const silenceExpectMs: DurationMs = 5 * 60_000;

// The next reading may be late, and the poll must not precede it.
const unlistedPeriods = 3;

// A collector on the target is near the end of its task, so it is polled three times as often as without a page.
const pollShareOfAge = 0.05;

// Not started, pending and progressing (collector-api.md §3).
const runningStatuses: readonly number[] = [0, 1, 6];
const taskStatus = { succeeded: 2, failed: 3 } as const;

// A restart takes up to a minute of a five-minute upgrade, and the next row comes soon after.
const rowShare = 1 / 4;

const polls: PollLimit<'upgrading'> = {
  isTimeUp: ({ progress }, at) => at >= progress.deadlineAt,
  unansweredForMs,
  // The collector may still show the result that its task does not.
  giveUp: (upgrade, fact, context) =>
    fact.of === 'task'
      ? noteEnding(upgrade, fact.at, { kind: 'deadline' })
      : failUnseen(upgrade, fact, context),
};

/** A task of ours is running. It is polled by its id; without an id, the collector is polled. */
export const upgrading: StateRules<'upgrading'> = {
  nextStep,
  polls,
  rows: {
    isWatched: ({ progress: { taskId, ending } }) =>
      taskId !== null && (ending === null || ending.kind === 'missing'),
    verdictOnRow,
    verdictOnOffer,
    verdictOnUnlisted,
    isTaskPollDue,
  },
  on: {
    // The answer may come after another daemon has adopted the task, and still has its id.
    created: (upgrade, { taskId }) => {
      if (upgrade.progress.taskId !== null) return upgrade;
      return enterState(spendAttempt(upgrade), { ...upgrade.progress, taskId });
    },
    taskSeen: afterTaskSeen,
    collectorSeen: afterCollectorSeen,
    changeHinted: afterChangeHinted,
    unchanged: afterUnchanged,
    pollFailed: (upgrade, fact, context) =>
      fact.of === 'task' && classifyPollFailure(fact.failure) === 'gone'
        ? noteEnding(upgrade, fact.at, { kind: 'missing' })
        : afterPollFailed(upgrade, fact, context, polls),
    abandoned: abandonUpgrade,
    ...ignoreFacts('admitted', 'putBack', 'claimed'),
    ...ignoreFacts('createSent', 'createNotSent', 'createFailed', 'buildsSeen', 'withdrawn'),
    ...ignoreFacts('departed', 'regressed', 'retryAsked', 'rejoined', 'rolledBack'),
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
  if (status === taskStatus.succeeded)
    return beginVerification(upgrade, { at, serviceAt, late: false }, context);
  if (status === taskStatus.failed)
    return noteEnding(upgrade, at, { kind: 'failed', message, seenDelayMs: at - polledAt });
  if (at >= deadlineAt) return noteEnding(upgrade, at, { kind: 'deadline' });
  const polled = { ...upgrade.progress, polledAt: at };
  if (runningStatuses.includes(status)) return pollLater(upgrade, polled, at, context);
  // An unspecified value (P13) may be an end, so the collector shows whether it is one: by a row, else by a poll.
  const dueAt = Math.min(at + context.policy.upgrade.expectMs * rowShare, deadlineAt);
  return enterState(
    upgrade,
    { ...polled, dueAt: Math.ceil(dueAt), ending: { kind: 'missing' } },
    { failedPolls: 0 },
  );
}

/** The task has ended or is unknown, so the collector is polled next. */
function noteEnding(upgrade: Upgrading, at: EpochMs, ending: TaskEnding): Upgrade {
  return enterState(upgrade, { ...upgrade.progress, dueAt: at, ending }, { failedPolls: 0 });
}

function pollLater(
  upgrade: Upgrading,
  progress: ProgressIn<'upgrading'>,
  at: EpochMs,
  { policy }: EvolveContext,
): Upgrade {
  return enterState(
    upgrade,
    { ...progress, dueAt: nextTaskPollAt({ ...progress, at }, policy) },
    { failedPolls: 0 },
  );
}

function afterCollectorSeen(upgrade: Upgrading, seen: CollectorSeen, context: EvolveContext): Upgrade {
  const { taskId, ending } = upgrade.progress;
  if (taskId !== null && ending === null) return upgrade;
  if (isSameBuild(seen.build, upgrade.identity.toBuild)) return verifyLate(upgrade, seen, context);
  return ending === null
    ? watchAdopted(upgrade, seen, context)
    : settleEnding(upgrade, ending, seen.at, context);
}

/** Handles a task that ended without success and whose collector does not run the target. */
function settleEnding(upgrade: Upgrading, ending: TaskEnding, at: EpochMs, context: EvolveContext): Upgrade {
  switch (ending.kind) {
    case 'failed':
      return afterTaskFailed(upgrade, { at, message: ending.message }, context);
    case 'missing':
      // The service does not know the task, or shows an unknown status: poll until the deadline, ever more slowly.
      if (at >= upgrade.progress.deadlineAt) return timeOut(upgrade, at, context);
      return enterState(upgrade, {
        ...upgrade.progress,
        ending: null,
        dueAt: nextMissingTaskPollAt({ ...upgrade.progress, at }, context.policy),
      });
    case 'deadline':
      // The clock of the daemon that saw the deadline pass may be ahead, so the clock of this poll has to show it, too.
      if (at >= upgrade.progress.deadlineAt) return timeOut(upgrade, at, context);
      return pollLater(upgrade, { ...upgrade.progress, ending: null }, at, context);
    default:
      return assertNever(ending);
  }
}

/** An adopted upgrade has ended without the build if the collector is upgradable again and is not restarting. */
function watchAdopted(upgrade: Upgrading, seen: CollectorSeen, context: EvolveContext): Upgrade {
  const { at } = seen;
  const { deadlineAt, unchangedAt } = upgrade.progress;
  const isDeadline = at >= deadlineAt;
  const isOver = seen.upgradable === true && unchangedAt !== undefined && !mayRestart(seen);
  // The heartbeat may be the last one before a restart, so a second poll decides.
  if (isOver && upgrade.tally.failedPolls === 0 && !isDeadline)
    return enterState(
      upgrade,
      { ...upgrade.progress, dueAt: restartSeenAt(at, 0, context) },
      { failedPolls: 1 },
    );
  if (isOver || (seen.upgradable === true && isDeadline)) {
    return afterUnexplained(spendAttempt(upgrade), { at, reason: { kind: 'adoptedEnded' } }, context);
  }
  if (isDeadline) return timeOut(upgrade, at, context);
  return noteLeftOut(pollLater(upgrade, upgrade.progress, at, context), seen);
}

function timeOut(upgrade: Upgrading, at: EpochMs, { policy }: EvolveContext): Upgrade {
  return failUpgrade(upgrade, 'timedOut', at, { kind: 'noEnd', withinMs: policy.upgrade.deadlineMs });
}

/** A restart or the target build shows that the task is near its end; other builds do not (collector-api.md §9). */
function verdictOnRow(
  { identity, progress }: Upgrading,
  row: InventoryRow,
  { at, periodMs, policy, isOfferRead }: RowContext,
): RowVerdict {
  const { startedAt, polledAt, taskId, ending } = progress;
  const isAtTarget = isSameBuild(row.build, identity.toBuild);
  if (ending !== null) return ending.kind === 'missing' && isAtTarget && row.alive ? 'collectorSeen' : 'none';
  if (taskId === null) return isAtTarget ? 'collectorSeen' : 'none';
  const { lastSeenAlive, serviceAt } = row;
  const heartbeat = assessHeartbeat(lastSeenAlive, serviceAt);
  const isSilent = !row.alive || heartbeat === 'late' || heartbeat === 'silent';
  if (!isAtTarget && !isSilent) return 'unchanged';
  // By the service's clock. Without it, the collector may have been silent since the task began.
  const silentMs = lastSeenAlive === null || serviceAt === null ? at - startedAt : serviceAt - lastSeenAlive;
  const isRestart = silentMs < restartMaxMs;
  if (!isAtTarget && isOfferRead && isRestart) return 'unchanged';
  const silenceShare = pollShareOfSilence * (policy.upgrade.expectMs / silenceExpectMs);
  const spacingMs = isAtTarget ? (polledAt - startedAt) * pollShareOfAge : silentMs * silenceShare;
  return at - polledAt >= Math.max(periodMs * pollShareOfPeriod, spacingMs) ? 'changeHinted' : 'unchanged';
}

/**
 * A collector on an upgradable list is in no task any more: it restarts, failed or has returned. The list may be outdated
 * and does not show the result, so the task is polled.
 */
function verdictOnOffer(upgrade: Upgrading, row: InventoryRow, context: RowContext): RowVerdict {
  const { taskId, ending } = upgrade.progress;
  if (ending !== null || taskId === null) return verdictOnRow(upgrade, row, context);
  return isTaskPollDue(upgrade, context) ? 'changeHinted' : 'none';
}

/** Long-running tasks are polled with growing intervals. */
function isTaskPollDue({ progress }: Upgrading, { at, periodMs }: UnlistedContext): boolean {
  const { startedAt, polledAt, taskId, ending } = progress;
  if (taskId === null || ending !== null) return false;
  const spacingMs = (polledAt - startedAt) * pollShareOfAge;
  return at - polledAt >= Math.max(periodMs * pollShareOfPeriod, spacingMs);
}

/** A collector that is not on the control list is still in its task. This is stored only if a poll is due soon. */
function verdictOnUnlisted({ progress }: Upgrading, { at, periodMs }: UnlistedContext): UnlistedVerdict {
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
  const isNewer = shownAt > Math.max(startedAt, unchangedAt);
  return enterState(upgrade, { ...upgrade.progress, dueAt: at, ...(isNewer && { unchangedAt: shownAt }) });
}

function afterUnchanged(
  upgrade: Upgrading,
  { at, until, isAwaited }: FactOf<'unchanged'>,
  { policy }: EvolveContext,
): Upgrade {
  const { progress } = upgrade;
  if (progress.ending !== null || progress.taskId === null) return upgrade;
  const dueAt = postponePoll(progress.dueAt, at, Math.min(until, nextRareTaskPollAt(progress, policy)));
  return dueAt === progress.dueAt
    ? upgrade
    : enterState(upgrade, { ...progress, dueAt, ...(isAwaited !== true && { unchangedAt: at }) });
}
