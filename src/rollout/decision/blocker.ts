import { assertNever } from '../../base/assert.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { AccountStatus } from '../model/account.ts';
import type { Implausible } from '../model/assess-inventory.ts';
import { isRolloutEnd, type Rollout, type RolloutState } from '../model/rollout.ts';
import type { RolloutReason } from '../model/rollout-reason.ts';
import type { JudgedGate, StopCause, WaveFailures } from '../model/stop-cause.ts';
import type { StratumReason, UpgradeReason } from '../model/upgrade-reason.ts';

/**
 * Why something does not start now: a kind with its figures, and when it may end by itself (null: not known, or a person
 * ends it). `messages/blockers.ts` makes the sentence. Waves are given by name.
 */
export type Blocker = { readonly until: EpochMs | null } & (
  | RolloutBlocker
  | EndingBlocker
  | WaveBlocker
  | AdmissionBlocker
  /** It is about to be held, aborted or rolled back for this. */
  | StopCause
);

/** The rollout as a whole starts nothing. */
type RolloutBlocker =
  | { readonly kind: 'planApproval' }
  | { readonly kind: 'held'; readonly reason: RolloutReason }
  | { readonly kind: 'paused'; readonly reason: RolloutReason }
  /** A limit is exceeded, and running upgrades may still show that a few strata alone are to blame. */
  | { readonly kind: 'outliersUnclear'; readonly failures: WaveFailures }
  /** A group is about to be held: its collectors are moved to a stratum of their own. */
  | { readonly kind: 'groupMoves'; readonly label: string }
  /** `heldAfterMs`: it is held when this lasts longer; null: it stands already. */
  | {
      readonly kind: 'inventory';
      readonly why: Implausible;
      readonly lastsMs: DurationMs;
      readonly heldAfterMs: DurationMs | null;
    }
  | { readonly kind: 'recordsUnreadable'; readonly collectorIds: readonly number[] }
  /** A newer upwave has written it; the versions of records. */
  | { readonly kind: 'newerVersion'; readonly version: number; readonly readable: number }
  | { readonly kind: 'account'; readonly account: Exclude<AccountStatus, { readonly kind: 'own' }> };

/** The rollout is over, or about to be. */
type EndingBlocker =
  | { readonly kind: 'over'; readonly reason: RolloutReason }
  | { readonly kind: 'withdrawing'; readonly upgrades: number }
  | { readonly kind: 'watching'; readonly upgrades: number }
  /** In another account, where nobody can watch them. */
  | { readonly kind: 'abandoning'; readonly upgrades: number }
  /** `why`: the inventory behind its plan can't be believed. */
  | { readonly kind: 'rollbackPlan'; readonly why: Implausible | null }
  | { readonly kind: 'rollback'; readonly rollback: string; readonly state: RolloutState };

/** The current wave goes no further. */
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
  /** `wave`: none of it is upgraded yet; null: all waves have passed. `known`: some of them. */
  | {
      readonly kind: 'deferred';
      readonly wave: string | null;
      readonly upgrades: number;
      readonly known: ReadonlyArray<{ readonly name: string; readonly reason: UpgradeReason }>;
    }
  /** A collector of a later wave waits for this. */
  | { readonly kind: 'waveOrder'; readonly wave: string; readonly waits: WaveWaits | null };

/** No slot is given, to all or to the collectors of a lane. */
type AdmissionBlocker =
  | { readonly kind: 'retryNotDue' }
  | { readonly kind: 'turn' }
  | { readonly kind: 'concurrency'; readonly slots: number }
  | LaneBlocker;

export type LaneBlocker =
  | { readonly kind: 'stratumHeld'; readonly label: string; readonly reason: StratumReason }
  /** `timeZone`: a collector's own; empty: the policy's. */
  | { readonly kind: 'window'; readonly timeZone: string }
  | { readonly kind: 'freeze'; readonly timeZone: string; readonly reason: string }
  /** An upgrade is expected to take longer than the window stays open (P7). */
  | { readonly kind: 'windowTooShort'; readonly timeZone: string; readonly expectMs: DurationMs }
  | { readonly kind: 'cap'; readonly label: string; readonly cap: number };

/** What a wave that has not started waits for. `gateOf`: the wave before it. */
export interface WaveWaits {
  readonly gateOf: string | null;
  readonly approval: boolean;
}

/** Why nothing of a rollout starts that does not run. */
export function stateBlocker({ state, reason }: Rollout): Blocker {
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
