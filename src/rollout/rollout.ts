import type { EpochMs } from '../base/time.ts';
import type { Policy } from './policy.ts';
import type { UpgradeState } from './upgrade.ts';

export const rolloutStates = [
  'planned',
  'awaitingApproval',
  'running',
  'held',
  'paused',
  'rollingBack',
  'succeeded',
  'finishedWithFailures',
  'aborted',
  'rolledBack',
  'superseded',
] as const;
export type RolloutState = (typeof rolloutStates)[number];

export type WaveState = 'waiting' | 'awaitingApproval' | 'open' | 'soaking' | 'passed' | 'held';

/** One run of a policy: one pinned target, one frozen plan (P5, P6). */
export interface Rollout {
  /** `<policy>-<UTC yyyymmdd>-<n>` */
  readonly id: string;
  /** The policy as it was when the plan was frozen. */
  readonly policy: Policy;
  readonly targetBuild: string;
  /** The builds it started from, most frequent first, at most five. */
  readonly fromBuilds: readonly string[];
  readonly planHash: string;
  readonly startedBy: string;
  readonly createdAt: EpochMs;
  /** When the inventory behind the plan was read. */
  readonly fleetReadAt: EpochMs;
  readonly state: RolloutState;
  /** Why it is in this state, for a person. */
  readonly reason: string;
  readonly waves: readonly Wave[];
  /** How many collectors the plan left out, by reason. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** When the last of its upgrades had ended; until then what runs is watched, whatever the state. */
  readonly endedAt: EpochMs | null;
  readonly rev: number;
}

/** An ordered group of the plan. */
export interface Wave {
  readonly name: string;
  /** Members when it was planned; the denominator of its failure share. */
  readonly size: number;
  readonly state: WaveState;
  readonly openedAt: EpochMs | null;
  readonly soakEndsAt: EpochMs | null;
  readonly passedAt: EpochMs | null;
  /** Failures an operator has seen and accepted by resuming: only more than these can trip the gate again. */
  readonly acknowledgedWeight: number;
  /** An operator resumed although the wave had brought no evidence. */
  readonly acceptedWithoutEvidence: boolean;
}

/** Counters of one wave, kept with the records. */
export interface WaveSummary {
  readonly counts: Readonly<Record<UpgradeState, number>>;
  /** Failures, weighted. */
  readonly weight: number;
  /** Collectors that did not come back. */
  readonly lost: number;
  /** When the last upgrade of the wave changed its state. */
  readonly lastChangeAt: EpochMs | null;
}

/** What `decide` sees: a summary, never all records, so that its cost does not grow with the fleet. */
export interface RolloutView {
  readonly rollout: Rollout;
  readonly waves: readonly WaveSummary[];
  readonly slotsTaken: number;
  /** Retries whose instant has come, earliest first; a bounded page. */
  readonly retriesDue: readonly number[];
  readonly nextRetryAt: EpochMs | null;
  /** The next members of the first wave that still has pending ones, in plan order; a bounded page. */
  readonly candidates: { readonly wave: number; readonly collectorIds: readonly number[] } | null;
  /** Upgrades whose step is overdue: their job may be lost; a bounded page. */
  readonly overdue: readonly number[];
  /** The store's own brake: set in the same write as the failure that tripped a wave. */
  readonly braked: boolean;
  /** Mean time from create to proof of the upgrades that succeeded, and how many that is over. */
  readonly learned: { readonly count: number; readonly meanMs: number };
}

/** True for states that a rollout never leaves (what runs is still watched until `endedAt`). */
export function isRolloutEnd(state: RolloutState): boolean {
  return (
    state === 'succeeded' ||
    state === 'finishedWithFailures' ||
    state === 'aborted' ||
    state === 'rolledBack' ||
    state === 'superseded'
  );
}
