import type { EpochMs } from '../../base/time.ts';
import type { ExplanationKind } from '../../base/vocabulary.ts';
import type { HoldNote, UnknownSubject } from '../../rollout/messages/hold-command-notes.ts';
import type { Attribute } from '../../rollout/model/attributes.ts';
import type { RolloutEvent } from '../../rollout/model/events.ts';
import type { LeftBehind } from '../../rollout/model/left-behind.ts';
import type { BuildHold } from '../../rollout/model/rollout.ts';
import type { Upgrade, UpgradeState } from '../../rollout/model/upgrade.ts';
import type { SelectionRule } from '../../rollout/planning/selector.ts';
import type { ReportFormat } from '../../rollout/report/write-report.ts';
import type { AttemptStatus } from '../../rollout/status/attempt-status.ts';
import type { RolloutCourse } from '../../rollout/status/course.ts';
import type { UpgradeExplanation } from '../../rollout/status/explain.ts';
import type { RollbackPreview } from '../../rollout/status/preview-rollback.ts';
import type { RolloutStatus } from '../../rollout/status/status.ts';
import type { Settlement } from '../../rollout/upgrade/repair-upgrade.ts';
import type { Refusal } from '../../rollout/verbs/refusal.ts';
import type { AskedVerb } from '../../rollout/verbs/verbs.ts';
import type { AuditEntry, CollectorHold } from '../ports/fleet-register.ts';
import type { RolloutsPage, UpgradePage } from '../ports/rollout-store.ts';
import type { PolicyStatuses } from './list-policies.ts';
import type { ReloadPreviewResult, ReloadRequest, ReloadResult } from './reload.ts';
import type { FoundUpgrades, UpgradeSearch } from './search-upgrades.ts';
import type { StartPreviewResult, StartRequest, StartResult } from './start-policy.ts';

export type VerbRequest = AskedVerb & {
  readonly rolloutId: string;
  readonly by: string;
  readonly reason: string;
};

export interface RepairRequest {
  readonly rolloutId: string;
  /** Whose record is meant; absent: the rollout's own, and those of all its upgrades. */
  readonly collectorId?: number;
  readonly settlement: Settlement;
  readonly by: string;
  readonly reason: string;
}

/** The verb is not legal now; `reason` says the refusal in an operator's words. */
export interface Refused {
  readonly kind: 'refused';
  readonly refusal: Refusal;
  readonly reason: string;
}

export type RollbackPreviewResult =
  /** `left`: who stays, as it is written down. */
  | {
      readonly kind: 'shown';
      readonly preview: RollbackPreview;
      readonly left: readonly LeftBehind[];
    }
  | Refused
  | { readonly kind: 'unknownRollout' }
  /** The service had to be asked, and did not answer. */
  | { readonly kind: 'unavailable'; readonly reason: string };

/** What a repair would settle. */
export interface RepairPreview {
  readonly rollout: string;
  /** The rollout's own record is corrupt: a repair of all ends the rollout. */
  readonly ownRecord: boolean;
  /** Upgrades that have not ended, and whose record is corrupt. */
  readonly upgrades: ReadonlyArray<{
    readonly collectorId: number;
    readonly collectorName: string;
    /** Whether a task may be running. */
    readonly mayRun: boolean;
  }>;
}

export type RepairPreviewResult =
  | { readonly kind: 'shown'; readonly preview: RepairPreview }
  | Refused
  | { readonly kind: 'unknownRollout' };

export type VerbResult =
  | { readonly kind: 'done'; readonly status: RolloutStatus }
  | { readonly kind: 'unchanged'; readonly status: RolloutStatus }
  | Refused
  | { readonly kind: 'unknownRollout' };

/**
 * What an operator holds or releases: a build, a collector by id or name, a stratum of a rollout by its label, or
 * collectors by what they share: `fields.rack=r7`.
 */
export interface HoldRequest {
  readonly subject: string;
  readonly by: string;
  readonly reason: string;
}

export type HeldSubject =
  | { readonly kind: 'build'; readonly build: string }
  | { readonly kind: 'collector'; readonly collectorId: number; readonly name: string }
  | {
      readonly kind: 'stratum';
      readonly label: string;
      readonly rolloutId: string;
      /** Of a group that is not a stratum yet: what its collectors share. */
      readonly attributes?: readonly Attribute[];
    };

export type HoldResult =
  | {
      readonly kind: 'done' | 'unchanged';
      readonly subject: HeldSubject;
      /** Absent where there is nothing to add. */
      readonly note?: HoldNote;
    }
  /** Nothing that can be held is called that. */
  | { readonly kind: 'unknown'; readonly why: UnknownSubject }
  /** The service had to be asked, and did not answer. */
  | { readonly kind: 'unavailable'; readonly reason: string };

/** Everything that is held, and by whom. */
export interface HeldThings {
  readonly builds: readonly BuildHold[];
  readonly collectors: readonly CollectorHold[];
  readonly strata: ReadonlyArray<{
    readonly policy: string;
    readonly rolloutId: string;
    /** The rollout that holds it has ended. */
    readonly isEnded: boolean;
    readonly label: string;
    readonly reason: string;
    readonly by: string;
    readonly at: EpochMs;
  }>;
}

/** Where a collector stands with one policy, and why. */
export interface Explanation extends UpgradeExplanation {
  readonly kind: ExplanationKind;
  readonly policy: string;
  readonly rollout: string | null;
  readonly wave: string | null;
  readonly state: UpgradeState | null;
  /** The build that the policy takes it to; null: not known, or there is none. */
  readonly target: string | null;
  /** The label of its stratum; null: not known. */
  readonly stratum: string | null;
  /** In the running rollout, oldest first. */
  readonly attempts: readonly AttemptStatus[];
  /** The rule of the policy's selection that leaves it out. */
  readonly rule: SelectionRule | null;
}

/** An upgrade of a collector in a rollout that has ended. */
export interface PastUpgrade {
  readonly rollout: string;
  readonly policy: string;
  readonly kind: 'upgrade' | 'rollback';
  readonly state: UpgradeState;
  readonly fromBuild: string;
  readonly toBuild: string;
  /** When it ended; null for one that had not when its rollout did. */
  readonly at: EpochMs | null;
  readonly reason: string;
  readonly attempts: readonly AttemptStatus[];
}

export type ExplainResult =
  | {
      readonly kind: 'explained';
      readonly collectorId: number;
      readonly collectorName: string;
      readonly build: string;
      readonly explanations: readonly Explanation[];
      /** Newest first, as far as kept: the latest rollouts of each policy. */
      readonly history: readonly PastUpgrade[];
    }
  /** `nearest`: names that may be meant. */
  | { readonly kind: 'unknownCollector'; readonly nearest: readonly string[] }
  | { readonly kind: 'unavailable'; readonly reason: string };

export interface RolloutStatusPage {
  readonly rollouts: readonly RolloutStatus[];
  /** What to ask for as `before` to go on; null: these were the last. */
  readonly next: string | null;
}

/** Which events a person asks for. All given parts must match. */
export interface EventFilter {
  readonly since?: EpochMs | undefined;
  /** Its name, or the beginning of it up to a dot. */
  readonly type?: string | undefined;
  /** Id, or a part of the name, in either case. */
  readonly collector?: string | undefined;
  readonly by?: string | undefined;
}

/** What an operator can see and do with rollouts, from what the store knows. */
export interface RolloutOperations {
  /** What is current, newest first: those that are running, and each policy's last that has ended; with its rollback, or what it rolls back. */
  listRollouts(): Promise<readonly RolloutStatus[]>;
  /** A page of all that are kept, newest first; undefined: there is no rollout `before`. */
  pageRollouts(page: RolloutsPage): Promise<RolloutStatusPage | undefined>;
  rolloutStatus(rolloutId: string): Promise<RolloutStatus | undefined>;
  /** When each policy scanned last, and what came of it. */
  listPolicies(): Promise<PolicyStatuses>;
  /** A page of the rollout's collectors in plan order. */
  listUpgrades(rolloutId: string, page: UpgradePage): Promise<readonly Upgrade[] | undefined>;
  /** A page of the upgrades that match; undefined: there is no such rollout. */
  searchUpgrades(rolloutId: string, search: UpgradeSearch): Promise<FoundUpgrades | undefined>;
  /** How it went so far; undefined: there is no such rollout. */
  showCourse(rolloutId: string): Promise<RolloutCourse | undefined>;
  /** The latest events that match, newest first. */
  readEvents(
    rolloutId: string,
    limit: number,
    filter?: EventFilter,
  ): Promise<readonly RolloutEvent[] | undefined>;
  /** What went where and when, for people; undefined: there is no such rollout. */
  report(rolloutId: string, format: ReportFormat): Promise<string | undefined>;
  /** What `rollback` would do now. */
  previewRollback(rolloutId: string): Promise<RollbackPreviewResult>;
  /** When it answers, the verb holds: after a `pause` or `abort` no create leaves from any daemon (P4). */
  apply(request: VerbRequest): Promise<VerbResult>;
  /** What `repair` would settle now; refused where none is corrupt. */
  previewRepair(of: Pick<RepairRequest, 'rolloutId' | 'collectorId'>): Promise<RepairPreviewResult>;
  /** Settles corrupt records; refused where none is corrupt. */
  repair(request: RepairRequest): Promise<VerbResult>;
  /** When it answers, no create of what is held leaves any more (P4). */
  hold(request: HoldRequest): Promise<HoldResult>;
  release(request: HoldRequest): Promise<HoldResult>;
  listHolds(): Promise<HeldThings>;
  /** What was held and released beside rollouts, newest first. */
  readAudit(limit: number): Promise<readonly AuditEntry[]>;
  /** Why not now, and when: for every policy. @param collector its id, or its exact name */
  explain(collector: string): Promise<ExplainResult>;
  /** The same of a collector that a running rollout has; undefined: none has it, and the service was not asked. */
  explainPlanned(collector: string): Promise<ExplainResult | undefined>;
}

/** What an operator can see and do, over HTTP or in the same process. */
export interface Operations extends RolloutOperations {
  /**
   * Reads the config again, all of it or nothing of it. When it answers, the running rollouts follow its brakes: no
   * create leaves that only the former ones allowed (P2, P7).
   */
  reload(request: ReloadRequest): Promise<ReloadResult>;
  /** What `reload` would change now; changes nothing. */
  previewReload(): Promise<ReloadPreviewResult>;
  /** What `start` would begin now: reads the builds and the fleet. */
  previewStart(policy: string): Promise<StartPreviewResult>;
  /** Begins a rollout by the plan that the operator saw, also of a build whose last rollout was aborted (P15). */
  start(request: StartRequest): Promise<StartResult>;
}
