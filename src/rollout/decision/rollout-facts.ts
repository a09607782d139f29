import type { EpochMs } from '../../base/time.ts';
import type { PolicyDifference } from '../../contract/admin/reload.ts';
import type { HeldFor } from '../../contract/admin/rollout-status.ts';
import type { AccountMark } from '../model/account.ts';
import type { ImplausibleReading, InventoryBaseline } from '../model/assess-inventory.ts';
import type { GateAnswers, SoakCheck } from '../model/gate-answers.ts';
import type { LeftBehind } from '../model/left-behind.ts';
import type { Policy } from '../model/policy.ts';
import type { HeldStratum, RolloutView } from '../model/rollout.ts';
import type { RolloutReason } from '../model/rollout-reason.ts';

/** What happened to a rollout as a whole, and when. Only `evolveRollout` turns facts into state. */
export type RolloutFact = { readonly at: EpochMs } & RolloutChange;

export type RolloutChange =
  | { readonly kind: 'approved'; readonly reason: RolloutReason }
  | { readonly kind: 'waveAwaitsApproval'; readonly wave: number }
  | { readonly kind: 'waveApproved'; readonly wave: number; readonly reason: RolloutReason }
  | { readonly kind: 'waveOpened'; readonly wave: number }
  | { readonly kind: 'soakBegun'; readonly wave: number; readonly endsAt: EpochMs }
  | { readonly kind: 'soakPolled'; readonly wave: number; readonly check: SoakCheck }
  | { readonly kind: 'soakSkipped'; readonly wave: number; readonly reason: RolloutReason }
  | {
      readonly kind: 'gateAnswered';
      readonly wave: number;
      readonly gate: number;
      readonly answers: GateAnswers;
    }
  | { readonly kind: 'wavePassed'; readonly wave: number }
  | { readonly kind: 'strataHeld'; readonly strata: readonly HeldStratum[] }
  /** Collectors are held for a shared attribute. They are moved to a stratum of their own before anything starts again. */
  | { readonly kind: 'groupHeld'; readonly held: HeldStratum }
  /** The rollout has no collector of a group that is held over all rollouts. */
  | { readonly kind: 'groupEmpty'; readonly label: string }
  /** All collectors of the group are in its stratum. `view`: the view at that time. */
  | { readonly kind: 'groupMoved'; readonly label: string; readonly view: RolloutView }
  /** `view`: its failures until then are acknowledged. */
  | {
      readonly kind: 'stratumReleased';
      readonly stratum: number;
      readonly label: string;
      readonly reason: RolloutReason;
      readonly view: RolloutView;
    }
  /** `forInventory`: the reason names the missing collectors, and the meaning of a resume. */
  | {
      readonly kind: 'held';
      readonly reason: RolloutReason;
      readonly heldFor?: HeldFor;
      readonly forInventory?: true;
    }
  /** The condition that ends the hold is met. This acknowledges nothing. */
  | { readonly kind: 'holdEnded'; readonly reason: RolloutReason }
  | { readonly kind: 'paused'; readonly reason: RolloutReason }
  /** `view`: its failures at the time of the resume are acknowledged. */
  | { readonly kind: 'resumed'; readonly reason: RolloutReason; readonly view: RolloutView }
  /** Failures were retried or set aside, so fewer are acknowledged. */
  | { readonly kind: 'acknowledgedLowered'; readonly view: RolloutView }
  | { readonly kind: 'aborted'; readonly reason: RolloutReason }
  /** A newer build is available, and the policy upgrades to it. */
  | { readonly kind: 'superseded'; readonly reason: RolloutReason }
  | { readonly kind: 'rollbackAsked'; readonly reason: RolloutReason; readonly anyTime?: true }
  /** The rollback no longer waits for windows and freezes. */
  | { readonly kind: 'windowsLifted'; readonly reason: RolloutReason }
  /** Collectors left behind, as known before the rollback is planned. */
  | { readonly kind: 'leftBehindForeseen'; readonly left: readonly LeftBehind[] }
  /** The intent: this is the id of the rollback, whether it exists yet or not. */
  | {
      readonly kind: 'rollbackNamed';
      readonly rollbackId: string;
      readonly left: readonly LeftBehind[];
    }
  | { readonly kind: 'rolledBack'; readonly reason: RolloutReason; readonly left: readonly LeftBehind[] }
  /** The rollout had ended, and an operator retries its failed upgrades. */
  | { readonly kind: 'reopened'; readonly reason: RolloutReason }
  | { readonly kind: 'finished'; readonly state: 'succeeded' | 'finishedWithFailures' }
  /** An ended rollout has no more upgrades to watch. */
  | { readonly kind: 'closed' }
  /** The rollout was found to belong to this account, under a new access id or address. */
  | { readonly kind: 'accountTied'; readonly mark: AccountMark }
  /** A reading of the inventory is implausible. */
  | { readonly kind: 'inventoryImplausible'; readonly reading: ImplausibleReading }
  /** A plausible reading. It ends the wait for the inventory, if any. */
  | { readonly kind: 'inventoryTrusted'; readonly inventory: InventoryBaseline }
  /** The config changed, and this rollout follows its limits: the policy is the frozen one with the new limits. */
  | {
      readonly kind: 'policyChanged';
      readonly policy: Policy;
      readonly generation: number;
      /** The changes, for the event. */
      readonly differences: readonly PolicyDifference[];
    }
  /** The store's brake was set or lifted, and the rollout itself is unchanged. */
  | { readonly kind: 'brakeSet' | 'brakeLifted' };
