import type { DurationMs, EpochMs } from '../../base/time.ts';
import { type RolloutState, rolloutStates, type WaveState, waveStates } from '../../base/vocabulary.ts';
import type { AccountMark, AccountStatus } from './account.ts';
import type { ImplausibleInventory, InventoryBaseline } from './assess-inventory.ts';
import type { Attribute, SharedAttribute } from './attributes.ts';
import type { GateAnswers, SoakCheck } from './gate-answers.ts';
import type { LeftBehind } from './left-behind.ts';
import type { LeftOutCount } from './left-out.ts';
import type { PlanGroups } from './plan-groups.ts';
import type { Policy } from './policy.ts';
import type { RolloutReason } from './rollout-reason.ts';
import type { UpgradeIn, UpgradeState } from './upgrade.ts';
import type { StratumReason } from './upgrade-reason.ts';

export { type RolloutState, rolloutStates, type WaveState, waveStates };

/** One run of a policy: one pinned target, one frozen plan (P5, P6). */
export interface Rollout {
  /** `<policy>-<UTC yyyymmdd>-<n>` */
  readonly id: string;
  /** A rollback takes the collectors of another rollout back, each to the build it had before. */
  readonly kind: 'upgrade' | 'rollback';
  /** For a rollback: the rollout it takes back. */
  readonly rollbackOf: string | null;
  /** The rollback of this rollout, once it was started. */
  readonly rollbackId: string | null;
  /** The policy as it was when the plan was frozen, with the brakes of the present config (`follow-config.ts`). */
  readonly policy: Policy;
  /** Whose brakes those are; absent in rollouts of earlier versions. */
  readonly config?: RolloutConfig;
  readonly targetBuild: string;
  /** For a rollback: the builds it goes back to, most frequent first. */
  readonly backTo: readonly string[];
  /** For a rollback, and for what it takes back: who stays on the build, and why. */
  readonly leftBehind: readonly LeftBehind[];
  /** The builds it started from, most frequent first, at most five. */
  readonly fromBuilds: readonly string[];
  /** Members of the plan on each of them; absent in rollbacks and in records of earlier versions. */
  readonly fromCounts?: readonly number[];
  readonly planHash: string;
  /** Counts the versions of the plan's groups: late joiners may add to them. */
  readonly groupsRev: number;
  readonly startedBy: string;
  readonly createdAt: EpochMs;
  /** When the inventory behind the plan was read. */
  readonly fleetReadAt: EpochMs;
  /** Installed collectors in that inventory. */
  readonly fleetSize: number;
  /** What later readings of the inventory are judged by; absent in records of earlier versions until one was good. */
  readonly inventory?: InventoryBaseline;
  /** While the inventory can't be believed. Nothing starts, and no collector is taken for gone (P14). */
  readonly doubt?: ImplausibleInventory;
  readonly state: RolloutState;
  readonly reason: RolloutReason;
  /** Set while it is held by itself for something that may come by itself; the hold ends then. Absent in any other hold. */
  readonly heldFor?: HeldFor;
  /** While it is held or paused: the `rev` with which that began. Absent in records of earlier versions. */
  readonly hold?: number;
  readonly waves: readonly Wave[];
  /** Strata of which nothing more starts until an operator releases them. */
  readonly heldStrata: readonly HeldStratum[];
  /** Failures of strata that an operator has seen, and which block them no more. */
  readonly acknowledgedStrata: readonly AcknowledgedStratum[];
  /** An operator said that it may end without what is held. */
  readonly endsWithoutHeld: boolean;
  /** While the plan waits for approval: how the fleet moved since it was shown last. */
  readonly drift: PlanDrift | null;
  /** For a rollback, and for what it takes back: a person lets it start outside windows and inside freezes. */
  readonly anyTime?: true;
  /** How many collectors the plan left out, for each reason. */
  readonly leftOut: readonly LeftOutCount[];
  /** When the last of its upgrades had ended; until then what is running is watched, whatever the state. */
  readonly endedAt: EpochMs | null;
  readonly rev: number;
  /** The account of the service that it belongs to, by each access id that is known to belong to it. */
  readonly accountMarks?: readonly AccountMark[];
  /** While its own record is unreadable: all else is what is known beside it (`stand-in-rollout.ts`). */
  readonly unreadable?: UnreadableRecord;
}

/** Why a rollout's own record is of no use to this daemon. */
export type UnreadableRecord =
  | { readonly kind: 'corrupt'; readonly text: string }
  /** A newer upwave wrote it, or one of its upgrades: it is for daemons of that version. */
  | { readonly kind: 'newer'; readonly version: number; readonly readable: number };

/** The config that a rollout follows. */
export interface RolloutConfig {
  /** Grows with each config that is new to the installation. */
  readonly generation: number;
  /** How often its brakes changed since the plan was frozen: a turn that was given before the last change counts no more. */
  readonly changes: number;
  /** The plan sorted its collectors by time zone, which windows and freezes asked for before the config changed. */
  readonly knowsZones?: true;
}

/**
 * What a rollout that is held waits for. `evidence`: all collectors of this wave have ended, and none is upgraded (P14).
 */
export interface HeldFor {
  readonly kind: 'evidence';
  /** Index of the wave in the plan. */
  readonly wave: number;
}

/** A stratum that is held alone, across the waves, with what led to it. */
export interface HeldStratum {
  /** Its index; -1 while nobody in the plan belongs to it, or nobody was moved to it. */
  readonly stratum: number;
  readonly label: string;
  /** Of a group that is held for what its collectors share. It becomes a stratum of its own, named by them. */
  readonly attributes?: readonly Attribute[];
  /** Its collectors are still in their former strata: nothing starts until they are moved. */
  readonly unmoved?: true;
  readonly reason: StratumReason;
  readonly by: string;
  readonly at: EpochMs;
}

/** Failures of a stratum in a wave that an operator has acknowledged, by resuming or by releasing the stratum. */
export interface AcknowledgedStratum {
  readonly stratum: number;
  readonly failed: number;
  /** Absent in records of earlier versions: then it is the sum over all waves, and only the waves know the weight. */
  readonly wave?: number;
  readonly weight?: number;
}

/** An ordered group of the plan. */
export interface Wave {
  readonly name: string;
  /** Members when it was planned; the denominator of its failure share. */
  readonly size: number;
  /** Members that caps make wait for each other: the longest such chain. */
  readonly chain: number;
  /** Late joiners: members that came to it later. */
  readonly joined: number;
  readonly state: WaveState;
  readonly openedAt: EpochMs | null;
  readonly soakEndsAt: EpochMs | null;
  readonly passedAt: EpochMs | null;
  /** When an operator approved its opening, where its rule asks for it. */
  readonly approvedAt: EpochMs | null;
  /** When an operator ended its soak. */
  readonly soakSkippedAt: EpochMs | null;
  /** The last poll of its upgraded collectors during the soak. */
  readonly soakCheck: SoakCheck | null;
  /** How each gate of its rule stands, in their order. */
  readonly gates: readonly GateAnswers[];
  /** Weighted failures that an operator has acknowledged, those of held strata included: they no longer count. */
  readonly acknowledgedWeight: number;
  /** An operator resumed although the wave had brought no evidence, and waited for none. */
  readonly acceptedWithoutEvidence: boolean;
}

/** Counters of one wave, kept with the records. */
export interface WaveSummary {
  readonly counts: Readonly<Record<UpgradeState, number>>;
  /** Failures, weighted. */
  readonly weight: number;
  /** Collectors that did not come back. */
  readonly lost: number;
  /** Withdrawn ones that someone else had upgraded. */
  readonly onBuild: number;
  /** When the last upgrade of the wave changed its state. */
  readonly lastChangeAt: EpochMs | null;
}

/** Counters of one stratum in one wave; only where there is something to count. */
export interface StratumSummary {
  readonly stratum: number;
  readonly wave: number;
  /** Pending or retrying; deferred ones wait for something else, and are not counted here. */
  readonly waiting: number;
  /** Queued, starting, upgrading or verifying. */
  readonly active: number;
  readonly succeeded: number;
  /** Collectors that failed, each counted once. */
  readonly failed: number;
  /** Their failures, weighted. */
  readonly weight: number;
}

/** A collector that may be admitted when its lane is free. */
export interface Candidate {
  readonly collectorId: number;
  /** For a retry: when it came due. For a pending one: its place in the plan. */
  readonly order: number;
}

/** The next candidates of one lane, in waves that have started; both lists are bounded. */
export interface LaneQueue {
  readonly lane: number;
  readonly retries: readonly Candidate[];
  readonly pending: readonly Candidate[];
}

/** How long upgrades of one stratum took, from their last create to the verification. */
export interface DurationSummary {
  readonly count: number;
  /** Their geometric mean: the median of log-normal durations. */
  readonly medianMs: DurationMs;
  readonly p95Ms: DurationMs;
}

/** Why a build may not be installed: it tripped a canary, or an operator said so. */
export interface BuildHold {
  readonly build: string;
  readonly by: string;
  readonly reason: string;
  readonly at: EpochMs;
}

/** What `decide` sees: a summary, never all records, so that its cost does not grow with the fleet. */
export interface RolloutView {
  readonly rollout: Rollout;
  readonly waves: readonly WaveSummary[];
  readonly groups: PlanGroups;
  readonly strata: readonly StratumSummary[];
  readonly slotsTaken: number;
  /** Slots used in each domain of `maxInFlightPer`; what is not named has none. */
  readonly domainsTaken: ReadonlyMap<number, number>;
  /** Who could start now if nothing stood in the way. */
  readonly candidates: readonly LaneQueue[];
  /** The next retry that is not due yet. */
  readonly nextRetryAt: EpochMs | null;
  /** Some deferred collectors, the earliest due first; read only while nothing else of the rollout goes on. */
  readonly deferred?: ReadonlyArray<UpgradeIn<'deferred'>>;
  /** Upgrades whose step is overdue: their job may be lost; a bounded page. */
  readonly overdue: readonly number[];
  /** Present while the plan's groups are unreadable: they are empty then. */
  readonly groupsUnreadable?: true;
  /** Running upgrades whose record is corrupt; absent while there is none. */
  readonly corruptUpgrades?: readonly number[];
  /** The store's own brake: set in the same write as the failure that tripped a wave. */
  readonly braked: boolean;
  /** Mean time from create to verification of the upgrades that succeeded, and how many that is over. */
  readonly learned: { readonly count: number; readonly meanMs: number };
  /** What was learned of each stratum; those without any are not named. */
  readonly durations: ReadonlyMap<number, DurationSummary>;
  /** Set while the target build is held, over all policies. */
  readonly buildHold: BuildHold | null;
  /** What its failures have in common; null: nothing. Absent where that was not weighed. */
  readonly sharedAttribute?: SharedAttribute | null;
  /** Whether it belongs to the account of the daemon that asks; absent: it does. */
  readonly account?: AccountStatus;
  /** The rollback of this rollout, once there is one. */
  readonly rollback: Pick<Rollout, 'id' | 'state' | 'reason' | 'endedAt'> | null;
}

/** What the store has of a view; holds of builds, the rollback and the account are read beside it. */
export type StoredView = Omit<RolloutView, 'buildHold' | 'rollback' | 'account' | 'sharedAttribute'>;

const rolloutEnds = ['succeeded', 'finishedWithFailures', 'aborted', 'rolledBack', 'superseded'] as const;

/** True for states that a rollout never leaves (what is running is still watched until `endedAt`). */
export function isRolloutEnd(state: RolloutState): state is (typeof rolloutEnds)[number] {
  return (rolloutEnds as readonly RolloutState[]).includes(state);
}

/** The number of the hold or pause that a rollout is in, by which a `resume` names it (P15); null while it is in none. */
export function holdNumber({ state, hold, rev }: Rollout): number | null {
  return state === 'held' || state === 'paused' ? (hold ?? rev) : null;
}

/** How a plan differs from the one before it. */
export interface PlanDrift {
  readonly from: string;
  readonly joined: number;
  readonly left: number;
  readonly change: PlanChange;
}

/** `messages/plans.ts` makes the sentence. */
export type PlanChange =
  /** `target`: the new one; null: it is the same. Names: the first few of those that joined and left. */
  | {
      readonly kind: 'collectors';
      readonly target: string | null;
      readonly joined: readonly string[];
      readonly left: readonly string[];
    }
  /** Of a record of version 2 or earlier. */
  | { readonly kind: 'text'; readonly text: string };
