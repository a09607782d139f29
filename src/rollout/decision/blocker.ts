import { assertNever } from '../../base/assert.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { BlockerKind } from '../../base/vocabulary.ts';
import type { ForeignAccount } from '../model/account.ts';
import type { Implausible } from '../model/assess-inventory.ts';
import {
  type CreatesWait,
  isRolloutEnd,
  type Rollout,
  type RolloutState,
  type RolloutView,
} from '../model/rollout.ts';
import type { RolloutReason } from '../model/rollout-reason.ts';
import type { JudgedGate, StopCause, WaveFailures } from '../model/stop-cause.ts';
import type { StratumReason, UpgradeReason } from '../model/upgrade-reason.ts';

/**
 * Why something does not start now: a kind with its figures, and when it may end by itself (null if unknown, or if a person
 * has to end it). `messages/blockers.ts` makes the sentence. Waves are given by name.
 */
export type Blocker = { readonly until: EpochMs | null } & (
  | RolloutBlocker
  | EndingBlocker
  | WaveBlocker
  | AdmissionBlocker
  /** The rollout is about to be held, aborted or rolled back for this reason. */
  | StopCause
);

/** The whole rollout starts nothing. */
type RolloutBlocker =
  | { readonly kind: 'planApproval' }
  | { readonly kind: 'held'; readonly reason: RolloutReason }
  | { readonly kind: 'paused'; readonly reason: RolloutReason }
  /** A limit is exceeded, but running upgrades may still show that only a few strata are the cause. */
  | { readonly kind: 'outliersUnclear'; readonly failures: WaveFailures }
  /** A group is about to be held: its collectors are moved to a stratum of their own. */
  | { readonly kind: 'groupMoves'; readonly label: string }
  /** `heldAfterMs`: the rollout is held after this time; null: it has stopped already. */
  | {
      readonly kind: 'inventory';
      readonly why: Implausible;
      readonly lastsMs: DurationMs;
      readonly heldAfterMs: DurationMs | null;
    }
  /** A newer upwave wrote the record, with these versions. */
  | { readonly kind: 'newerVersion'; readonly version: number; readonly readable: number }
  /** The config has no policy of this name. */
  | { readonly kind: 'policyMissing'; readonly rollout: string; readonly policy: string }
  | { readonly kind: 'account'; readonly account: ForeignAccount }
  /** No create leaves, because the store may lack creates that are still in flight (P1). */
  | ({ readonly kind: 'storeReturned' } & Omit<CreatesWait, 'until'>);

/** The rollout has ended, or is about to end. */
type EndingBlocker =
  | { readonly kind: 'over'; readonly reason: RolloutReason }
  | { readonly kind: 'withdrawing'; readonly upgrades: number }
  | { readonly kind: 'watching'; readonly upgrades: number }
  /** Upgrades in another account, which this daemon cannot watch. */
  | { readonly kind: 'abandoning'; readonly upgrades: number }
  /** `why`: the inventory for its plan is implausible. */
  | { readonly kind: 'rollbackPlan'; readonly why: Implausible | null }
  | { readonly kind: 'rollback'; readonly rollback: string; readonly state: RolloutState };

/** The current wave does not advance. */
type WaveBlocker =
  | { readonly kind: 'waveApproval'; readonly wave: string }
  | { readonly kind: 'soak'; readonly wave: string }
  | { readonly kind: 'lateJoiners'; readonly wave: string; readonly upgrades: number }
  | {
      readonly kind: 'soakCheck';
      readonly wave: string;
      readonly silent: number;
      readonly failedPolls: number;
    }
  | { readonly kind: 'gate'; readonly wave: string; readonly gate: JudgedGate }
  /** `wave`: a wave without an upgraded collector; null: all waves have passed. `known`: some of the deferred collectors. */
  | {
      readonly kind: 'deferred';
      readonly wave: string | null;
      readonly upgrades: number;
      readonly known: ReadonlyArray<{ readonly name: string; readonly reason: UpgradeReason }>;
    }
  /** The reason why a collector of a later wave waits. */
  | { readonly kind: 'waveOrder'; readonly wave: string; readonly waits: WaveWaits | null };

/** No collector gets a slot, or none of a lane. */
type AdmissionBlocker =
  | { readonly kind: 'retryNotDue' }
  | { readonly kind: 'turn' }
  | { readonly kind: 'concurrency'; readonly slots: number }
  /** The starts of an hour are used up. `wave`: the name of the wave whose pace it is; null: of the policy. */
  | { readonly kind: 'pace'; readonly perHour: number; readonly wave: string | null }
  | LaneBlocker;

export type LaneBlocker =
  | { readonly kind: 'stratumHeld'; readonly label: string; readonly reason: StratumReason }
  /**
   * `timeZone`: a collector's own; empty: the policy's. `nextFreeze`: the reason of the freeze in which the next window
   * begins. `notBefore`: of the open wave.
   */
  | { readonly kind: 'window'; readonly timeZone: string; readonly nextFreeze?: string }
  | { readonly kind: 'notBefore'; readonly timeZone: string }
  | { readonly kind: 'freeze'; readonly timeZone: string; readonly reason: string }
  /** An upgrade is expected to take longer than the window stays open (P7). */
  | { readonly kind: 'windowTooShort'; readonly timeZone: string; readonly expectMs: DurationMs }
  | { readonly kind: 'cap'; readonly label: string; readonly cap: number };

const windowWaits: ReadonlySet<BlockerKind> = new Set<LaneBlocker['kind']>([
  'window',
  'freeze',
  'notBefore',
  'windowTooShort',
]);

/** Whether a blocker of this kind ends when the calendar opens. */
export function isWindowWait(kind: BlockerKind): boolean {
  return windowWaits.has(kind);
}

/** Why a wave has not started. `gateOf`: the wave before it. */
export interface WaveWaits {
  readonly gateOf: string | null;
  readonly approval: boolean;
}

/** Why no create leaves after an outage of the store; empty while they do. */
export function storeBlockers({ createsWait }: Pick<RolloutView, 'createsWait'>): readonly Blocker[] {
  return createsWait === undefined ? [] : [{ kind: 'storeReturned', ...createsWait }];
}

/** Why a rollout that is not running starts nothing. */
export function stateBlocker({ state }: Pick<Rollout, 'state'>, reason: RolloutReason): Blocker {
  if (isRolloutEnd(state)) return { kind: 'over', reason, until: null };
  switch (state) {
    case 'awaitingApproval':
      return { kind: 'planApproval', until: null };
    case 'held':
    case 'paused':
      return { kind: state, reason, until: null };
    case 'running':
      return { kind: 'turn', until: null };
    case 'rollingBack':
      return { kind: 'rollbackPlan', why: null, until: null };
    default:
      return assertNever(state);
  }
}
