import type { EpochMs } from '../../base/time.ts';
import type { AccountMark } from '../model/account.ts';
import type { ImplausibleReading, InventoryBaseline } from '../model/assess-inventory.ts';
import type { GateAnswers, SoakCheck } from '../model/gate-answers.ts';
import type { LeftBehind } from '../model/left-behind.ts';
import type { Policy, PolicyDifference } from '../model/policy.ts';
import type { HeldFor, HeldStratum, RolloutView } from '../model/rollout.ts';
import type { RolloutReason } from '../model/rollout-reason.ts';

/** What happened to a rollout as a whole. Only `evolveRollout` turns these into state. */
export type RolloutFact = { readonly at: EpochMs } & (
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
  /** Collectors are held for what they share; they are moved to a stratum of their own before anything starts again. */
  | { readonly kind: 'groupHeld'; readonly held: HeldStratum }
  /** They all are in it. `view`: as it is then. */
  | { readonly kind: 'groupMoved'; readonly label: string; readonly view: RolloutView }
  /** Records took the place of corrupt ones, which may not say that their collectors belong to a held group. */
  | { readonly kind: 'upgradesRepaired' }
  /** `view`: what it had failed until then is acknowledged. */
  | {
      readonly kind: 'stratumReleased';
      readonly stratum: number;
      readonly label: string;
      readonly reason: RolloutReason;
      readonly view: RolloutView;
    }
  /** `forDoubt`: the reason says what the inventory lacks, and what it means to resume. */
  | {
      readonly kind: 'held';
      readonly reason: RolloutReason;
      readonly heldFor?: HeldFor;
      readonly forDoubt?: true;
    }
  /** What it was held for has come; nothing is acknowledged by that. */
  | { readonly kind: 'holdEnded'; readonly reason: RolloutReason }
  | { readonly kind: 'paused'; readonly reason: RolloutReason }
  /** What every wave had failed when the operator said to go on: acknowledged. */
  | { readonly kind: 'resumed'; readonly reason: RolloutReason; readonly view: RolloutView }
  | { readonly kind: 'acknowledgedLowered'; readonly view: RolloutView }
  | { readonly kind: 'aborted'; readonly reason: RolloutReason }
  /** A newer build is out, and the policy wants it. */
  | { readonly kind: 'superseded'; readonly reason: RolloutReason }
  | { readonly kind: 'rollbackAsked'; readonly reason: RolloutReason; readonly anyTime?: true }
  /** Its rollback, or it as a rollback, need not wait for windows and freezes any more. */
  | { readonly kind: 'windowsLifted'; readonly reason: RolloutReason }
  /** From what is known before the rollback is planned. */
  | { readonly kind: 'leftBehindForeseen'; readonly left: readonly LeftBehind[] }
  /** The intent: this id is the rollback's, whether it is there yet or not. */
  | {
      readonly kind: 'rollbackNamed';
      readonly rollbackId: string;
      readonly left: readonly LeftBehind[];
    }
  | { readonly kind: 'rolledBack'; readonly reason: RolloutReason; readonly left: readonly LeftBehind[] }
  /** It was over, and an operator wants its failed ones tried again. */
  | { readonly kind: 'reopened'; readonly reason: RolloutReason }
  | { readonly kind: 'finished'; readonly state: 'succeeded' | 'finishedWithFailures' }
  | { readonly kind: 'closed' }
  /** It was found to belong to this account too, under another access id or address than before. */
  | { readonly kind: 'accountTied'; readonly mark: AccountMark; readonly isFirst: boolean }
  /** A reading of the inventory can't be believed. */
  | { readonly kind: 'inventoryImplausible'; readonly doubt: ImplausibleReading }
  /** A good reading: it ends the doubt, if there is one. */
  | { readonly kind: 'inventoryTrusted'; readonly inventory: InventoryBaseline }
  /** The config changed, and this rollout follows its brakes: the policy is the frozen one with the new brakes. */
  | {
      readonly kind: 'policyChanged';
      readonly policy: Policy;
      readonly generation: number;
      /** For the event: what changed. */
      readonly differences: readonly PolicyDifference[];
    }
  /** Nothing to say about the rollout itself: the store's brake was set or lifted. */
  | { readonly kind: 'brakeSet' | 'brakeLifted' }
);
