import type { UpgradeFailureClass } from '../../base/vocabulary.ts';
import type { ShownRollback } from '../../contract/admin/verbs.ts';
import type { ForeignAccount } from '../model/account.ts';
import type { Implausible } from '../model/assess-inventory.ts';
import type { NoTarget } from '../model/left-out.ts';
import type { PlanDrift, RolloutState, UnreadableRecord } from '../model/rollout.ts';
import type { RolloutReason } from '../model/rollout-reason.ts';

/** Why a verb is refused; `messages/refusal-texts.ts` makes the sentence. */
export type Refusal =
  | { readonly kind: 'foreign'; readonly account: ForeignAccount }
  | { readonly kind: 'recordUnreadable'; readonly unreadable: UnreadableRecord }
  | { readonly kind: 'over'; readonly state: RolloutState }
  /** `rollback`: the id of the rollback, once it has started. */
  | { readonly kind: 'rollingBack'; readonly rollback: string | null }
  | { readonly kind: 'alreadyHeld' }
  | { readonly kind: 'notStarted' }
  | { readonly kind: 'notStopped'; readonly state: RolloutState }
  /** The operator named hold `asked`, but a later hold or pause is in force, for this reason. */
  | {
      readonly kind: 'otherHold';
      readonly state: RolloutState;
      readonly hold: number;
      readonly asked: number;
      readonly reason: RolloutReason;
    }
  | { readonly kind: 'buildHeld'; readonly build: string; readonly reason: string }
  | {
      readonly kind: 'otherPlan';
      readonly planHash: string;
      readonly asked: string;
      readonly awaited: Awaited | null;
    }
  | { readonly kind: 'noApprovalNeeded'; readonly awaited: Awaited | null }
  | { readonly kind: 'unknownWave'; readonly asked: string; readonly awaited: Awaited | null }
  | { readonly kind: 'waveNotAwaiting'; readonly asked: string; readonly awaited: Awaited | null }
  | { readonly kind: 'notSoaking'; readonly asked: string; readonly soaking: string | null }
  | { readonly kind: 'isRollback'; readonly rollbackOf: string | null }
  | { readonly kind: 'nothingUpgraded'; readonly isOver: boolean }
  | { readonly kind: 'nothingFailed' }
  | { readonly kind: 'moreFailed'; readonly failed: number; readonly asked: number }
  /** No failure matches `asked`; `failed`: the failures there are. */
  | { readonly kind: 'noneOfCause'; readonly asked: string | null; readonly failed: FailedSummary | null }
  | { readonly kind: 'noneOfCollectors' }
  /** The policy has another active rollout. */
  | { readonly kind: 'placeTaken'; readonly active: string }
  /** The current fleet is unavailable, so the plan cannot be compared with it. */
  | { readonly kind: 'fleetUnread'; readonly reason: string }
  /** A rollout whose policy no config has is upgrading collectors of the plan. */
  | { readonly kind: 'stillRunning'; readonly rolloutId: string; readonly running: number }
  | { readonly kind: 'noTarget'; readonly why: NoTarget }
  | { readonly kind: 'inventory'; readonly why: Implausible }
  | { readonly kind: 'planMoved'; readonly from: string; readonly to: string; readonly drift: PlanDrift }
  | { readonly kind: 'changedMeanwhile' }
  | { readonly kind: 'rollbackUnknown'; readonly reason: string }
  /** `shown`: the preview that the operator confirmed; null if none. */
  | {
      readonly kind: 'rollbackUnconfirmed';
      readonly shown: ShownRollback | null;
      readonly now: ShownRollback;
    };

/** What needs an approval now. */
export type Awaited =
  | { readonly kind: 'plan'; readonly planHash: string }
  | { readonly kind: 'wave'; readonly wave: string };

/** The failures by class and by reason, the most frequent first. */
export interface FailedSummary {
  readonly classes: ReadonlyArray<{ readonly failureClass: UpgradeFailureClass; readonly count: number }>;
  /** The most frequent reasons; `moreReasons`: how many others there are. */
  readonly reasons: ReadonlyArray<{ readonly reason: string; readonly count: number }>;
  readonly moreReasons: number;
}
