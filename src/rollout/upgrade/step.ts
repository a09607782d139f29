import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { UpgradeReason } from '../model/upgrade-reason.ts';

/** The next request of a job, as data; `orchestrator/step/run-step.ts` executes it. */
export type Step =
  /** No request: the upgrade waits for the reconciler, or has ended. */
  | { readonly do: 'rest' }
  | { readonly do: 'wait'; readonly until: EpochMs }
  /** Store the intent, then create the task. */
  | { readonly do: 'start' }
  /** The window closes too soon, and the slot is released (P7). */
  | { readonly do: 'giveBack'; readonly reason: UpgradeReason }
  | { readonly do: 'pollTask'; readonly taskId: string }
  | { readonly do: 'pollCollector'; readonly why: PollReason; readonly askUpgradable: boolean }
  /** The target was refused: check whether the service still offers it. */
  | { readonly do: 'askBuilds' };

export type PollReason = 'recheck' | 'refused' | 'settle' | 'watchBuild' | 'judge' | 'verify' | 'deferred';

// Within a minute, an eligible collector can't have gone through a complete upgrade by someone else. An observation of
// that age needs no second poll before a create (P1: no task for a build it already runs).
export const freshForMs: DurationMs = 60_000;
