import type { EpochMs } from '../../base/time.ts';
import type { SharedAttribute } from '../model/attributes.ts';
import type { HeldFor } from '../model/rollout.ts';
import type { RolloutReason } from '../model/rollout-reason.ts';
import type { BreachCause, HoldCause } from '../model/stop-cause.ts';
import type { UpgradeReason } from '../model/upgrade-reason.ts';
import type { Pick } from './admission.ts';
import type { Blocker } from './blocker.ts';
import type { OutlierStratum } from './outlier-strata.ts';

/** What the reconciler shall do, as data; `orchestrator/lead/reconcile.ts` carries it out. */
export type Action =
  | { readonly do: 'awaitApproval'; readonly wave: number }
  | { readonly do: 'openWave'; readonly wave: number }
  | { readonly do: 'beginSoak'; readonly wave: number; readonly endsAt: EpochMs }
  /** Check whether the wave's upgraded collectors are still alive and on the build. */
  | { readonly do: 'checkSoak'; readonly wave: number }
  | { readonly do: 'askGate'; readonly wave: number; readonly gate: number }
  | { readonly do: 'passWave'; readonly wave: number }
  /** Something is inconclusive, or waits for an operator (P14). */
  | { readonly do: 'hold'; readonly cause: HoldCause; readonly heldFor?: HeldFor; readonly forDoubt?: true }
  /** What the rollout was held for has come: it runs again. */
  | { readonly do: 'endHold'; readonly reason: RolloutReason }
  /** Too many failures, or a gate that was missed: what follows is the policy's `onBreach`. */
  | { readonly do: 'breach'; readonly cause: BreachCause; readonly holdsBuild: boolean }
  /** These strata alone are held, and the rest goes on. */
  | { readonly do: 'isolate'; readonly strata: readonly OutlierStratum[] }
  /** Collectors that share what explains the failures are held alone, and the rest goes on. */
  | { readonly do: 'isolateGroup'; readonly shared: SharedAttribute }
  /** The collectors of a held group get a stratum of their own. */
  | { readonly do: 'moveGroup'; readonly label: string }
  /** Failures were retried, or set aside: fewer are acknowledged from now on. */
  | { readonly do: 'lowerAcknowledged' }
  /** The inventory can't be believed: it is read again, until it can. */
  | { readonly do: 'checkInventory' }
  | { readonly do: 'setBrake' }
  /** The store's brake is set, but nothing is wrong any more. */
  | { readonly do: 'liftBrake' }
  | { readonly do: 'admit'; readonly picks: readonly Pick[]; readonly slots: number }
  /** Their steps are overdue: make sure that a job exists for each. */
  | { readonly do: 'deliver'; readonly collectorIds: readonly number[] }
  /** What has not started never will. */
  | { readonly do: 'withdrawWaiting'; readonly reason: UpgradeReason }
  /** What may have run in another account is over by now, and nobody can poll it. */
  | { readonly do: 'abandon'; readonly reason: UpgradeReason }
  | { readonly do: 'finish'; readonly state: 'succeeded' | 'finishedWithFailures' }
  /** Everything of the rollout has ended: its upgraded collectors are taken back by a rollout of their own. */
  | { readonly do: 'beginRollback' }
  /** The rollback has ended: what it took back is marked so, and this rollout is over. */
  | { readonly do: 'endRollback'; readonly reason: RolloutReason }
  /** An ended rollout has nothing left to watch. */
  | { readonly do: 'close' };

export interface Decision {
  readonly actions: readonly Action[];
  /** Why nothing more starts; `status` prints these. */
  readonly blockers: readonly Blocker[];
  /** When to decide again even if nothing happens. */
  readonly wakeAt: EpochMs | null;
}
