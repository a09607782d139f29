import { assertNever } from '../../base/assert.ts';
import type { EpochMs } from '../../base/time.ts';
import type { ProgressIn, Upgrade } from '../model/upgrade.ts';

/** The one call that a job makes next, as data; `orchestrator/step/run-step.ts` carries it out. */
export type Step =
  /** Nothing for a job: the upgrade waits for the reconciler, or has ended. */
  | { readonly do: 'rest' }
  | { readonly do: 'wait'; readonly until: EpochMs }
  /** Write the intent, then create the task. */
  | { readonly do: 'start' }
  /** Its window closes too soon by now: its slot goes back (P7). */
  | { readonly do: 'giveBack'; readonly reason: string }
  | { readonly do: 'pollTask'; readonly taskId: string }
  | { readonly do: 'pollCollector'; readonly why: PollReason; readonly askUpgradable: boolean }
  /** Its build was refused, and it runs another one: is the build still on offer? */
  | { readonly do: 'askBuilds' };

export type PollReason = 'recheck' | 'refused' | 'settle' | 'watchBuild' | 'judge' | 'verify' | 'deferred';

// Within a minute a collector that was on offer and heard from cannot have gone through a whole upgrade by someone else,
// so what was read so recently needs no second look before a create (P1: no task for a build it already runs).
export const freshForMs = 60_000;

/**
 * What this upgrade needs now. Pure: the same record and instant always give the same step.
 * @param trustedSince what was seen before is looked at again: the record may be one of before, and its create lost (P1).
 *   Its upgrade may be running then, which a collector does not show until it restarts: the upgradable list does
 */
export function nextStep(upgrade: Upgrade, now: EpochMs, trustedSince: EpochMs = 0): Step {
  if ('dueAt' in upgrade.progress && upgrade.progress.state !== 'retrying' && upgrade.progress.dueAt > now) {
    return { do: 'wait', until: upgrade.progress.dueAt };
  }
  switch (upgrade.progress.state) {
    case 'queued':
      // Before its window is judged: what was refused is known by now, and is not asked again later.
      if (upgrade.progress.refused !== undefined) {
        if (upgrade.progress.refused.isObserved) return { do: 'askBuilds' };
        return { do: 'pollCollector', why: 'refused', askUpgradable: false };
      }
      if (upgrade.progress.startBy !== null && now > upgrade.progress.startBy) {
        return { do: 'giveBack', reason: 'the window closes too soon to start it' };
      }
      if (
        isFresh(upgrade.progress, now) &&
        upgrade.progress.freshAt >= trustedSince &&
        upgrade.progress.heartbeatAfter === undefined
      )
        return { do: 'start' };
      return { do: 'pollCollector', why: 'recheck', askUpgradable: upgrade.progress.freshAt < trustedSince };
    case 'starting':
      return { do: 'pollCollector', why: 'settle', askUpgradable: true };
    case 'upgrading':
      if (upgrade.progress.ending !== null)
        return { do: 'pollCollector', why: 'judge', askUpgradable: false };
      if (upgrade.progress.taskId === null)
        return { do: 'pollCollector', why: 'watchBuild', askUpgradable: true };
      return { do: 'pollTask', taskId: upgrade.progress.taskId };
    case 'verifying':
      return { do: 'pollCollector', why: 'verify', askUpgradable: false };
    case 'deferred':
      return {
        do: 'pollCollector',
        why: 'deferred',
        askUpgradable: upgrade.progress.condition === 'inUpgrade',
      };
    case 'pending':
    case 'retrying':
    case 'succeeded':
    case 'failed':
    case 'timedOut':
    case 'unconfirmed':
    case 'withdrawn':
    case 'rolledBack':
      return { do: 'rest' };
    default:
      return assertNever(upgrade.progress);
  }
}

/**
 * Whether what was last seen of a collector still tells enough for a create at this instant (P1). What was seen in the
 * future was seen by another clock, or by ours before it was set back: who knows when.
 */
function isFresh(progress: ProgressIn<'queued'>, now: EpochMs): boolean {
  return Math.abs(now - progress.freshAt) <= freshForMs;
}
