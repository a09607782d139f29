import type { UpgradeFailureClass } from '../../base/vocabulary.ts';
import type { AccountStatus } from '../model/account.ts';
import type { Implausible } from '../model/assess-inventory.ts';
import type { NoTarget } from '../model/left-out.ts';
import type { PlanDrift, RolloutState, UnreadableRecord } from '../model/rollout.ts';
import type { RolloutReason } from '../model/rollout-reason.ts';

/** Why a verb is refused, with its figures; `messages/refusals.ts` makes the sentence. */
export type Refusal =
  | { readonly kind: 'foreign'; readonly account: Exclude<AccountStatus, { readonly kind: 'own' }> }
  | { readonly kind: 'recordUnreadable'; readonly unreadable: UnreadableRecord }
  | { readonly kind: 'over'; readonly state: RolloutState }
  /** `rollback`: the rollout that takes this one back, once it has started. */
  | { readonly kind: 'rollingBack'; readonly rollback: string | null }
  | { readonly kind: 'alreadyHeld' }
  | { readonly kind: 'notStarted' }
  | { readonly kind: 'notStopped'; readonly state: RolloutState }
  /** Another hold or pause has started since `asked`, for this reason. */
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
  /** Nothing failed as asked; `failed`: what did. */
  | { readonly kind: 'noneOfClass'; readonly asked: string | null; readonly failed: FailedSummary | null }
  /** No record is corrupt, of this collector or of the whole rollout. */
  | { readonly kind: 'nothingCorrupt'; readonly collectorId: number | null }
  /** The policy's place is taken. */
  | { readonly kind: 'placeTaken'; readonly active: string }
  /** The plan can't be compared with the fleet of now. */
  | { readonly kind: 'fleetUnread'; readonly reason: string }
  | { readonly kind: 'noTarget'; readonly why: NoTarget }
  | { readonly kind: 'inventory'; readonly why: Implausible }
  | { readonly kind: 'planMoved'; readonly from: string; readonly to: string; readonly drift: PlanDrift }
  | { readonly kind: 'changedMeanwhile' }
  | { readonly kind: 'rollbackUnknown'; readonly reason: string }
  /** `shown`: what its operator confirmed; null: nothing. */
  | {
      readonly kind: 'rollbackUnconfirmed';
      readonly shown: ShownRollback | null;
      readonly now: ShownRollback;
    };

/** What waits for an approval now. */
export type Awaited =
  | { readonly kind: 'plan'; readonly planHash: string }
  | { readonly kind: 'wave'; readonly wave: string };

/** Of a rollback's preview, what whoever confirms it names. */
export interface ShownRollback {
  /** Collectors that go back. */
  readonly collectors: number;
  /** Collectors that stay. */
  readonly leftBehind: number;
}

/** What failed, the most frequent first. */
export interface FailedSummary {
  readonly classes: ReadonlyArray<{ readonly failureClass: UpgradeFailureClass; readonly count: number }>;
  /** A few at most; `moreReasons`: how many others there are. */
  readonly reasons: ReadonlyArray<{ readonly reason: string; readonly count: number }>;
  readonly moreReasons: number;
}
