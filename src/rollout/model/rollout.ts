import type { DurationMs, EpochMs } from '../../base/time.ts';
import { type RolloutState, rolloutStates, type WaveState, waveStates } from '../../base/vocabulary.ts';
import type { GroupHold } from '../../contract/admin/holds.ts';
import type { HeldFor, SharedAttribute } from '../../contract/admin/rollout-status.ts';
import type { BuildHold } from '../../contract/admin/status-parts.ts';
import type { AccountMark, AccountStatus } from './account.ts';
import type { ImplausibleInventory, InventoryBaseline } from './assess-inventory.ts';
import type { Attribute } from './attributes.ts';
import type { GateAnswers, SoakCheck } from './gate-answers.ts';
import type { LeftBehind } from './left-behind.ts';
import type { LeftOutCount } from './left-out.ts';
import type { PlanGroups } from './plan-groups.ts';
import type { Policy, WaveRule } from './policy.ts';
import type { RolloutReason } from './rollout-reason.ts';
import type { Upgrade, UpgradeIn, UpgradeState } from './upgrade.ts';
import type { StratumReason } from './upgrade-reason.ts';

export { type RolloutState, rolloutStates, type WaveState, waveStates };

/** One run of a policy: one pinned target, one frozen plan (P5, P6). */
export interface Rollout {
  /** `<policy>-<UTC yyyymmdd>-<n>` */
  readonly id: string;
  /** A rollback returns the collectors of another rollout to their previous builds. */
  readonly kind: 'upgrade' | 'rollback';
  /** The policy at the time of the plan, with the limits of the current config (`follow-config.ts`). */
  readonly policy: Policy;
  /** The config of these limits. */
  readonly config: RolloutConfig;
  readonly startedBy: string;
  readonly createdAt: EpochMs;
  readonly plan: RolloutPlan;
  readonly state: RolloutState;
  readonly reason: RolloutReason;
  /** null unless it is held or paused. */
  readonly hold: RolloutHold | null;
  readonly waves: readonly Wave[];
  readonly strata: RolloutStrata;
  readonly inventory: RolloutInventory;
  readonly rollback: RolloutRollback;
  /** When the last of its upgrades ended. Until then running upgrades are watched, in any state. */
  readonly endedAt: EpochMs | null;
  readonly rev: number;
  /** The account of the service that it belongs to, by each access id that is known to belong to it. */
  readonly accountMarks: readonly AccountMark[];
  /** Present while its own record is unreadable. Then the other fields come from other records. */
  readonly unreadable?: UnreadableRecord;
}

/** What a rollout keeps of its plan beside the waves. */
export interface RolloutPlan {
  readonly hash: string;
  readonly targetBuild: string;
  /** The builds it started from, most frequent first, at most five. */
  readonly fromBuilds: readonly string[];
  /** Members of the plan on each of them; empty in rollbacks. */
  readonly fromCounts: readonly number[];
  /** How many collectors the plan left out, for each reason. */
  readonly leftOut: readonly LeftOutCount[];
  /** Fields that the plan has no room for, so failures are not weighed by them. */
  readonly unweighedFields: readonly string[];
  /** The version of the plan's groups, to which late joiners may add. */
  readonly groupsRev: number;
  /** The plan sorted its collectors by time zone, because its windows or freezes needed that. */
  readonly knowsZones: boolean;
  /** When the inventory behind the plan was read. */
  readonly fleetReadAt: EpochMs;
  /** Installed collectors in that inventory. */
  readonly fleetSize: number;
  /** While the plan waits for approval: how the fleet has changed since it was last shown. */
  readonly drift: PlanDrift | null;
}

/** The current hold or pause of a rollout. */
export interface RolloutHold {
  /** A `resume` names it (P15): the `rev` at which the hold began. */
  readonly number: number;
  /** The condition that ends a hold by itself. Absent in any other hold. */
  readonly heldFor?: HeldFor;
}

/** What applies to single strata, across all waves. */
export interface RolloutStrata {
  /** Strata that start nothing more until an operator releases them. */
  readonly held: readonly HeldStratum[];
  /** Acknowledged failures of strata, which no longer block them. */
  readonly acknowledged: readonly AcknowledgedStratum[];
  /** An operator allowed the rollout to end without its held strata. */
  readonly endsWithoutHeld: boolean;
  /** Labels of groups that are held over all rollouts, and of which this one has no collector; absent: none. */
  readonly emptyGroups?: readonly string[];
}

/** How a rollout judges readings of the inventory. */
export interface RolloutInventory {
  /** Lost with an unreadable record, until the next good reading. */
  readonly baseline: InventoryBaseline | null;
  /** Set while the inventory is implausible. Nothing starts, and no collector counts as gone (P14). */
  readonly implausible: ImplausibleInventory | null;
}

/** The relation of a rollback and its original, in the record of each. */
export interface RolloutRollback {
  /** For a rollback: the id of the rollout that it rolls back. */
  readonly original: string | null;
  /** For an original: the id of its rollback, once that was started. */
  readonly startedAs: string | null;
  /** For a rollback: its target builds, most frequent first. */
  readonly backTo: readonly string[];
  /** The collectors that stay on the build, and why. */
  readonly leftBehind: readonly LeftBehind[];
  /** An operator lets the rollback start outside windows and inside freezes. */
  readonly anyTime: boolean;
}

/** Of an upgrade that is not rolled back. */
export const noRollback: RolloutRollback = {
  original: null,
  startedAs: null,
  backTo: [],
  leftBehind: [],
  anyTime: false,
};

/** Why this daemon cannot use a rollout's own record. */
export type UnreadableRecord =
  /** `key`: where it is in Redis. `text`: what is there. */
  | { readonly kind: 'corrupt'; readonly key: string; readonly text: string }
  /** A newer upwave wrote the record, or one of its upgrades: it belongs to daemons of that version. */
  | { readonly kind: 'newer'; readonly version: number; readonly readable: number };

/** Unreadable records of a plan or its upgrades. They hold the rollout. */
export interface UnreadableRecords {
  /** Where they are in Redis. */
  readonly keys: readonly string[];
  /** Upgrades among them that have not ended: those without a task, and those that may have one. */
  readonly waiting: number;
  readonly mayRun: number;
}

/** The config that a rollout follows. */
export interface RolloutConfig {
  /** Grows with each new config of the installation; 0 if unknown. */
  readonly generation: number;
  /** How often its limits or its open calendar have changed since the plan was frozen. An earlier admission no longer counts. */
  readonly changes: number;
  /** Oldest first, and only for the picture of the rollout; absent: no reload has changed its calendar. */
  readonly replacedCalendars?: readonly ReplacedCalendar[];
}

/** When upgrades could start, until a reload changed that. */
export interface ReplacedCalendar extends Pick<Policy, 'windows' | 'freezes' | 'timeZone'> {
  /** In the order of the plan. */
  readonly waves: ReadonlyArray<Pick<WaveRule, 'windows' | 'notBefore'>>;
  readonly until: EpochMs;
}

/** A stratum that is held alone, across all waves, with the reason. */
export interface HeldStratum {
  /** Its index; -1 while it has no collectors. */
  readonly stratum: number;
  readonly label: string;
  /** The shared attributes of a held group. The group becomes a stratum of its own with their name. */
  readonly attributes?: readonly Attribute[];
  /** Its collectors are still in their previous strata: nothing starts until they are moved. */
  readonly unmoved?: true;
  /** Held strata whose failed collectors are in this group now; absent: none. */
  readonly tookOver?: ReadonlyArray<TakenStratum>;
  readonly reason: StratumReason;
  readonly by: string;
  readonly at: EpochMs;
}

/** A stratum that the daemon had held until a held group took its failed collectors. */
export interface TakenStratum {
  readonly label: string;
  /** When it was held. */
  readonly at: EpochMs;
  /** Collectors that remained in it, waiting to start. */
  readonly remaining: number;
}

/** Failures of a stratum in a wave that an operator has acknowledged, by resuming or by releasing the stratum. */
export interface AcknowledgedStratum {
  readonly stratum: number;
  readonly failed: number;
  readonly wave: number;
  readonly weight: number;
}

/** An ordered group of the plan. */
export interface Wave {
  readonly name: string;
  /** Members when it was planned; the denominator of its failure share. */
  readonly size: number;
  /** The longest chain of members that wait for each other because of a cap. */
  readonly chain: number;
  /** How many members are late joiners. */
  readonly joined: number;
  readonly state: WaveState;
  readonly openedAt: EpochMs | null;
  readonly soakEndsAt: EpochMs | null;
  readonly passedAt: EpochMs | null;
  /** When an operator approved its opening, if its rule requires that. */
  readonly approvedAt: EpochMs | null;
  /** When an operator ended its soak. */
  readonly soakSkippedAt: EpochMs | null;
  /** The last poll of its upgraded collectors during the soak. */
  readonly soakCheck: SoakCheck | null;
  /** The state of each gate of its rule, in their order. */
  readonly gates: readonly GateAnswers[];
  /** Weighted acknowledged failures, including those of held strata. They no longer count. */
  readonly acknowledgedWeight: number;
  /** An operator resumed although the wave had no evidence, and no deferred collectors. */
  readonly acceptedWithoutEvidence: boolean;
}

/** Counters of one wave, kept with the records. */
export interface WaveSummary {
  readonly counts: Readonly<Record<UpgradeState, number>>;
  /** Failures, weighted. */
  readonly weight: number;
  /** Number of lost collectors: they did not come back. */
  readonly lost: number;
  /** Withdrawn collectors that someone else had upgraded. */
  readonly onBuild: number;
  /** When the last upgrade of the wave changed its state. */
  readonly lastChangeAt: EpochMs | null;
}

/** Counters of one stratum in one wave; absent if all are zero. */
export interface StratumSummary {
  readonly stratum: number;
  readonly wave: number;
  /** Pending or retrying. Deferred upgrades are not counted here. */
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
  /** The geometric mean, which is the median of log-normal durations. */
  readonly medianMs: DurationMs;
  readonly p95Ms: DurationMs;
  readonly longestMs?: DurationMs;
  /** Standard deviation of the logarithm. */
  readonly sigma?: number;
}

/** The input of `decide`: a summary and never all records, because its cost must not grow with the fleet. */
export interface RolloutView {
  readonly rollout: Rollout;
  readonly waves: readonly WaveSummary[];
  readonly groups: PlanGroups;
  readonly strata: readonly StratumSummary[];
  readonly slotsTaken: number;
  /** Slots used in each domain of `maxInFlightPer`; a missing domain has none. */
  readonly domainsTaken: ReadonlyMap<number, number>;
  /** For how long the starts so far have used up its pace, by the clock of the store; 0: not at all. */
  readonly pacedForMs: DurationMs;
  /** Collectors that could start now without blockers. */
  readonly candidates: readonly LaneQueue[];
  /** The next retry that is not due yet. */
  readonly nextRetryAt: EpochMs | null;
  /** Some deferred collectors, the earliest due first; read only while the rollout does nothing else. */
  readonly deferred?: ReadonlyArray<UpgradeIn<'deferred'>>;
  /** Upgrades with an overdue step, whose job may be lost; a bounded page. */
  readonly overdue: readonly number[];
  /** Present while other records than its own are unreadable. */
  readonly unreadableRecords?: UnreadableRecords;
  /** The store's own brake: set in the same write as the failure that breached a limit. */
  readonly braked: boolean;
  /** Mean time from create to verification of the upgrades that succeeded, and how many that is over. */
  readonly learned: { readonly count: number; readonly meanMs: number };
  /** The learned durations of each stratum; absent without any. */
  readonly durations: ReadonlyMap<number, DurationSummary>;
  /** Running upgrades, read for a status while they are few; absent: not read. */
  readonly inFlight?: readonly Upgrade[];
  /** Set while the target build is held, over all policies. */
  readonly buildHold: BuildHold | null;
  /** Groups that were held while its plan was made, which it does not hold yet; absent: none. */
  readonly missedGroups?: readonly GroupHold[];
  /** The shared attribute of its failures; absent if there is none, or it was not computed. */
  readonly sharedAttribute?: SharedAttribute;
  /** Whether it belongs to the account of this daemon; absent: it does. */
  readonly account?: AccountStatus;
  /** Why no create leaves after an outage of the store; absent while they do. */
  readonly createsWait?: CreatesWait;
  /** Whether the config lacks its policy, so that no daemon continues it; absent: the config has it. */
  readonly isPolicyMissing?: boolean;
  /** The rollback of this rollout, once there is one. */
  readonly rollback: Pick<Rollout, 'id' | 'state' | 'reason' | 'endedAt'> | null;
}

/** The part of a view in the store. Holds of builds, the rollback and the account are read separately. */
export type StoredView = Omit<
  RolloutView,
  | 'buildHold'
  | 'inFlight'
  | 'missedGroups'
  | 'rollback'
  | 'account'
  | 'createsWait'
  | 'isPolicyMissing'
  | 'sharedAttribute'
>;

/** The store was away, and may lack creates that are still in flight (P1). */
export interface CreatesWait {
  /** A write of this daemon is missing. */
  readonly isLost: boolean;
  /** Other daemons that have not confirmed that none of their writes is missing. */
  readonly unconfirmed: number;
  /** When all creates from before have arrived. */
  readonly until: EpochMs;
}

/** The index of the wave that upgrades: the first that has not passed, or the last one. */
export function openWaveOf({ waves }: Pick<Rollout, 'waves'>): number {
  const index = waves.findIndex(({ state }) => state !== 'passed');
  return index < 0 ? waves.length - 1 : index;
}

const rolloutEnds = ['succeeded', 'finishedWithFailures', 'aborted', 'rolledBack', 'superseded'] as const;

/** True for end states of a rollout. Running upgrades are still watched until `endedAt`. */
export function isRolloutEnd(state: RolloutState): state is (typeof rolloutEnds)[number] {
  return (rolloutEnds as readonly RolloutState[]).includes(state);
}

/** How a plan differs from the one before it. */
export interface PlanDrift {
  readonly from: string;
  readonly joined: number;
  readonly left: number;
  readonly change: PlanChange;
}

/** `messages/plans.ts` makes the sentence. Names: the first few of those that joined and left. */
export interface PlanChange {
  /** The new target; null: it is the same. */
  readonly target: string | null;
  readonly joined: readonly string[];
  readonly left: readonly string[];
}
