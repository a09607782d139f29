import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { UpgradeReason } from '../model/upgrade-reason.ts';

/** The one call that a job makes next, as data; `orchestrator/step/run-step.ts` carries it out. */
export type Step =
  /** Nothing for a job: the upgrade waits for the reconciler, or has ended. */
  | { readonly do: 'rest' }
  | { readonly do: 'wait'; readonly until: EpochMs }
  /** Write the intent, then create the task. */
  | { readonly do: 'start' }
  /** Its window closes too soon by now: its slot goes back (P7). */
  | { readonly do: 'giveBack'; readonly reason: UpgradeReason }
  | { readonly do: 'pollTask'; readonly taskId: string }
  | { readonly do: 'pollCollector'; readonly why: PollReason; readonly askUpgradable: boolean }
  /** Its build was refused, and it runs another one: is the build still on offer? */
  | { readonly do: 'askBuilds' };

export type PollReason = 'recheck' | 'refused' | 'settle' | 'watchBuild' | 'judge' | 'verify' | 'deferred';

// Within a minute a collector that was on offer and heard from cannot have gone through a whole upgrade by someone else,
// so what was read so recently needs no second poll before a create (P1: no task for a build it already runs).
export const freshForMs: DurationMs = 60_000;
