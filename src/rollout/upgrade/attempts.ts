import type { EpochMs } from '../../base/time.ts';
import { type Attempt, isEnd, isFailed, type Upgrade, type UpgradeState } from '../model/upgrade.ts';

/** How one attempt went: for whoever asks about the collector. */
export interface AttemptStatus {
  /** null: it was refused before there was a task, or adopted. */
  readonly taskId: string | null;
  readonly startedAt: EpochMs;
  /** null while it is on its way. */
  readonly endedAt: EpochMs | null;
  /** The state that it led to. */
  readonly state: UpgradeState;
  readonly reason: string;
}

/** The attempts of an upgrade, oldest first, as far as they are kept. */
export function attemptsOf(upgrade: Upgrade): readonly AttemptStatus[] {
  return (upgrade.tasks ?? []).map(({ taskId, startedAt, ended }) => ({
    taskId,
    startedAt,
    endedAt: ended?.at ?? ('endedAt' in upgrade ? upgrade.endedAt : null),
    state: ended?.state ?? upgrade.state,
    reason: ended?.reason ?? reasonOf(upgrade),
  }));
}

// More than any policy retries; an operator may ask for another turn again and again.
const attemptsKept = 10;

/** The record after a change, with its attempts brought up to date. */
export function noteAttempts(before: Upgrade, after: Upgrade, at: EpochMs): Upgrade {
  const tasks = attemptsAfter(before, after, at).slice(-attemptsKept);
  return tasks.length === 0 ? after : { ...after, tasks };
}

function attemptsAfter(before: Upgrade, after: Upgrade, at: EpochMs): readonly Attempt[] {
  const tasks = before.tasks ?? [];
  const last = tasks.at(-1);
  const isOpen = last !== undefined && last.ended === undefined;
  const earlier = isOpen ? tasks.slice(0, -1) : tasks;
  const ended = { at, state: after.state, reason: reasonOf(after) };
  if (isUnderWay(before)) {
    // A record of an earlier version shows only the attempt that is on its way.
    const { taskId, startedAt } = isOpen ? last : before;
    if (!isUnderWay(after)) {
      // The end of the record is the end of its last attempt, and is not written down twice.
      return [...earlier, { taskId, startedAt, ...(isEnd(after.state) ? {} : { ended }) }];
    }
    return isOpen ? [...earlier, { taskId: after.taskId ?? taskId, startedAt }] : tasks;
  }
  if (isUnderWay(after)) return [...earlier, { taskId: after.taskId, startedAt: after.startedAt }];
  // The service refused the create, and that spent an attempt.
  if (before.state === 'starting' && after.attempts > before.attempts)
    return [...tasks, { taskId: null, startedAt: before.sentAt, ...(isEnd(after.state) ? {} : { ended }) }];
  if (!isOpen || !('endedAt' in before) || isFailed(after.state)) return tasks;
  const { endedAt, state, reason } = before;
  return [...earlier, { ...last, ended: { at: endedAt, state, reason } }];
}

function isUnderWay(upgrade: Upgrade): upgrade is Extract<Upgrade, { state: 'upgrading' | 'verifying' }> {
  return upgrade.state === 'upgrading' || upgrade.state === 'verifying';
}

function reasonOf(upgrade: Upgrade): string {
  return 'reason' in upgrade ? (upgrade.reason ?? '') : '';
}
