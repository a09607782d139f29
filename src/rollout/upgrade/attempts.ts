import type { EpochMs } from '../../base/time.ts';
import { type Attempt, isEnd, isFailed, isIn, reasonOf, type Upgrade } from '../model/upgrade.ts';

// More than a policy allows by itself; an operator can ask for any number of retries.
const attemptsKept = 10;

/** Updates the list of attempts in a changed record. */
export function noteAttempts(before: Upgrade, after: Upgrade, at: EpochMs): Upgrade {
  if (isSameTask(before, after)) return after;
  const tasks = attemptsAfter(before, after, at).slice(-attemptsKept);
  return tasks.length === 0 ? after : { ...after, tally: { ...after.tally, tasks } };
}

/** A poll without changes, which is the most frequent change. */
function isSameTask({ progress: before }: Upgrade, { progress: after }: Upgrade): boolean {
  return before.state === 'upgrading' && after.state === 'upgrading' && before.taskId === after.taskId;
}

function attemptsAfter(before: Upgrade, after: Upgrade, at: EpochMs): readonly Attempt[] {
  const tasks = before.tally.tasks ?? [];
  const last = tasks.at(-1);
  const isOpen = last !== undefined && last.ended === undefined;
  const earlier = isOpen ? tasks.slice(0, -1) : tasks;
  const reasonNow = reasonOf(after);
  // The end of the upgrade is the end of its last attempt, and is not stored twice.
  const ended = isEnd(after.progress.state)
    ? {}
    : { ended: { at, state: after.progress.state, ...(reasonNow !== undefined && { reason: reasonNow }) } };
  const running = isIn(after, 'upgrading', 'verifying') ? after.progress : undefined;
  if (isIn(before, 'upgrading', 'verifying')) {
    const { taskId, startedAt } = isOpen ? last : before.progress;
    if (running === undefined) return [...earlier, { taskId, startedAt, ...ended }];
    return isOpen ? [...earlier, { taskId: running.taskId ?? taskId, startedAt }] : tasks;
  }
  if (running !== undefined) return [...earlier, { taskId: running.taskId, startedAt: running.startedAt }];
  // A refused create that spent an attempt.
  if (isIn(before, 'starting') && after.tally.attempts > before.tally.attempts)
    return [...tasks, { taskId: null, startedAt: before.progress.sentAt, ...ended }];
  if (!isOpen || !('endedAt' in before.progress) || isFailed(after.progress.state)) return tasks;
  const { endedAt, state, reason } = before.progress;
  return [...earlier, { ...last, ended: { at: endedAt, state, reason } }];
}
