import type { EpochMs } from '../../base/time.ts';
import type { SharedAttribute } from '../model/attributes.ts';
import type { HeldFor } from '../model/rollout.ts';
import type { RolloutReason } from '../model/rollout-reason.ts';
import type { BreachCause, HoldCause } from '../model/stop-cause.ts';
import type { UpgradeReason } from '../model/upgrade-reason.ts';
import type { Pick } from './admission.ts';
import type { Blocker } from './blocker.ts';
import type { OutlierStratum } from './outlier-strata.ts';

/** What the reconciler has to do, as data. `orchestrator/lead/reconcile.ts` executes it. */
export type Action =
  | { readonly do: 'awaitApproval'; readonly wave: number }
  | { readonly do: 'openWave'; readonly wave: number }
  | { readonly do: 'beginSoak'; readonly wave: number; readonly endsAt: EpochMs }
  /** Check whether the wave's upgraded collectors are still alive and on the build. */
  | { readonly do: 'checkSoak'; readonly wave: number }
  | { readonly do: 'askGate'; readonly wave: number; readonly gate: number }
  | { readonly do: 'passWave'; readonly wave: number }
  /** Hold: something is inconclusive, or needs an operator (P14). */
  | { readonly do: 'hold'; readonly cause: HoldCause; readonly heldFor?: HeldFor; readonly forDoubt?: true }
  /** The condition that ends the hold is met: the rollout continues. */
  | { readonly do: 'endHold'; readonly reason: RolloutReason }
  /** Too many failures, or a missed gate: the policy's `onBreach` follows. */
  | { readonly do: 'breach'; readonly cause: BreachCause; readonly holdsBuild: boolean }
  /** Only these strata are held, and the others continue. */
  | { readonly do: 'isolate'; readonly strata: readonly OutlierStratum[] }
  /** Only the collectors with the shared attribute of the failures are held, and the others continue. */
  | { readonly do: 'isolateGroup'; readonly shared: SharedAttribute }
  /** The collectors of a held group get a stratum of their own. */
  | { readonly do: 'moveGroup'; readonly label: string }
  /** Failures were retried or set aside, so fewer are acknowledged. */
  | { readonly do: 'lowerAcknowledged' }
  /** The inventory is implausible, and is read again until it is plausible. */
  | { readonly do: 'checkInventory' }
  | { readonly do: 'setBrake' }
  /** The store's brake is set, but its reason no longer applies. */
  | { readonly do: 'liftBrake' }
  | { readonly do: 'admit'; readonly picks: readonly Pick[]; readonly slots: number }
  /** Their steps are overdue: ensure that a job exists for each. */
  | { readonly do: 'deliver'; readonly collectorIds: readonly number[] }
  /** Withdraw upgrades that have not started. */
  | { readonly do: 'withdrawWaiting'; readonly reason: UpgradeReason }
  /** Give up upgrades that may have run in another account. They have ended by now, and this daemon cannot poll them. */
  | { readonly do: 'abandon'; readonly reason: UpgradeReason }
  | { readonly do: 'finish'; readonly state: 'succeeded' | 'finishedWithFailures' }
  /** All upgrades have ended: a separate rollout rolls the upgraded collectors back. */
  | { readonly do: 'beginRollback' }
  /** The rollback has ended: its collectors are marked, and this rollout ends. */
  | { readonly do: 'endRollback'; readonly reason: RolloutReason }
  /** An ended rollout has no more upgrades to watch. */
  | { readonly do: 'close' };

export interface Decision {
  readonly actions: readonly Action[];
  /** Why nothing more starts, for `status`. */
  readonly blockers: readonly Blocker[];
  /** When to decide again without any event. */
  readonly wakeAt: EpochMs | null;
}
