import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { GroupHold } from '../../contract/admin/holds.ts';
import type { HeldFor, SharedAttribute } from '../../contract/admin/rollout-status.ts';
import type { RolloutReason } from '../model/rollout-reason.ts';
import type { BreachCause, HoldCause } from '../model/stop-cause.ts';
import type { UpgradeReason } from '../model/upgrade-reason.ts';
import type { PickedCollector } from './admission.ts';
import type { Blocker } from './blocker.ts';
import type { OutlierStratum } from './outlier-strata.ts';
import type { RolloutChange } from './rollout-facts.ts';

/** What the reconciler has to do, as data. `orchestrator/lead/reconcile.ts` executes it. */
export type Action =
  /** Nothing has to be done beside the change of the rollout. */
  | { readonly do: 'save'; readonly change: RolloutChange }
  /** Check whether the wave's upgraded collectors are still alive and on the build. */
  | { readonly do: 'checkSoak'; readonly wave: number }
  | { readonly do: 'askGate'; readonly wave: number; readonly gate: number }
  /** Hold: something is inconclusive, or needs an operator (P14). */
  | {
      readonly do: 'hold';
      readonly cause: HoldCause;
      readonly heldFor?: HeldFor;
      readonly forInventory?: true;
    }
  /** Too many failures, or a missed gate: the policy's `onBreach` follows. */
  | { readonly do: 'breach'; readonly cause: BreachCause; readonly holdsBuild: boolean }
  /** Only these strata are held, and the others continue. */
  | { readonly do: 'isolate'; readonly strata: readonly OutlierStratum[] }
  /** Only the collectors with the shared attribute of the failures are held, and the others continue. */
  | { readonly do: 'isolateGroup'; readonly shared: SharedAttribute }
  /** A group was held over all rollouts while this one was planned: `change` holds it, if there are collectors of it. */
  | { readonly do: 'holdGroup'; readonly group: GroupHold; readonly change: RolloutChange }
  /** The collectors of a held group get a stratum of their own. */
  | { readonly do: 'moveGroup'; readonly label: string }
  /** The inventory is implausible, and is read again until it is plausible. */
  | { readonly do: 'checkInventory' }
  | { readonly do: 'setBrake' }
  /** The store's brake is set, but its reason no longer applies. */
  | { readonly do: 'liftBrake' }
  /** `paceMs`: how much of the pace each start uses up; absent: there is none. */
  | {
      readonly do: 'admit';
      readonly picks: readonly PickedCollector[];
      readonly slots: number;
      readonly paceMs?: DurationMs;
    }
  /** Their steps are overdue: ensure that a job exists for each. */
  | { readonly do: 'deliver'; readonly collectorIds: readonly number[] }
  /** Withdraw upgrades that have not started. */
  | { readonly do: 'withdrawWaiting'; readonly reason: UpgradeReason }
  /** Give up upgrades that may have run in another account. They have ended by now, and this daemon cannot poll them. */
  | { readonly do: 'abandon'; readonly reason: UpgradeReason }
  /** All upgrades have ended: a separate rollout rolls the upgraded collectors back. */
  | { readonly do: 'beginRollback' }
  /** The rollback has ended: its collectors are marked, and this rollout ends. */
  | { readonly do: 'endRollback'; readonly reason: RolloutReason };

export interface Decision {
  readonly actions: readonly Action[];
  /** Why nothing more starts, for `status`. */
  readonly blockers: readonly Blocker[];
  /** When to decide again without any event. */
  readonly wakeAt: EpochMs | null;
}
