import type { BuildOutcome } from '../../contract/admin/builds.ts';
import type { CollectorExplanation } from '../../contract/admin/collector-explanation.ts';
import type { RolloutCourse } from '../../contract/admin/course.ts';
import type { AuditEntry, AuditSearch, HeldThings, HoldAnswer } from '../../contract/admin/holds.ts';
import type { PolicyStatuses } from '../../contract/admin/policies.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { EventSearch } from '../../contract/admin/rollouts.ts';
import type { VerbBody } from '../../contract/admin/verb-body.ts';
import type { RollbackPreview } from '../../contract/admin/verbs.ts';
import type { UnknownSubject } from '../../rollout/messages/hold-command-notes.ts';
import type { RolloutEvent } from '../../rollout/model/events.ts';
import type { LeftBehind } from '../../rollout/model/left-behind.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import type { ReportFormat } from '../../rollout/report/write-report.ts';
import type { AskedVerb } from '../../rollout/verbs/judge-verb.ts';
import type { Refusal } from '../../rollout/verbs/refusal.ts';
import type { RolloutsPage, UpgradePage } from '../ports/rollout-store.ts';
import type { ReloadPreviewResult, ReloadResult } from './reload-config.ts';
import type { FoundUpgrades, UpgradeSearch } from './search-upgrades.ts';
import type { StartPreviewResult, StartRequest, StartResult } from './start-policy.ts';

export type VerbRequest = AskedVerb & VerbBody & { readonly rolloutId: string };

/** The verb is not legal now. `reason` is the refusal as a sentence. */
export interface Refused {
  readonly kind: 'refused';
  readonly refusal: Refusal;
  readonly reason: string;
}

export type RollbackPreviewResult =
  /** `left`: the collectors left behind, as stored. */
  | {
      readonly kind: 'shown';
      readonly preview: RollbackPreview;
      readonly left: readonly LeftBehind[];
    }
  | Refused
  | { readonly kind: 'unknownRollout' }
  /** The service had to be asked, and did not answer. */
  | { readonly kind: 'unavailable'; readonly reason: string };

export type VerbResult =
  | { readonly kind: 'done'; readonly status: RolloutStatus }
  | { readonly kind: 'unchanged'; readonly status: RolloutStatus }
  | Refused
  | { readonly kind: 'unknownRollout' };

/**
 * The subject of a hold or release: a build, a collector by id or name, a stratum of a rollout by its label, or collectors
 * by a shared attribute: `fields.rack=r7`.
 */
export interface HoldRequest extends VerbBody {
  readonly subject: string;
}

export type HoldResult =
  | HoldAnswer
  /** No subject has this name. */
  | { readonly kind: 'unknown'; readonly why: UnknownSubject }
  /** The service had to be asked, and did not answer. */
  | { readonly kind: 'unavailable'; readonly reason: string };

export type ExplainResult =
  | ({ readonly kind: 'explained' } & CollectorExplanation)
  /** `nearest`: similar names. */
  | { readonly kind: 'unknownCollector'; readonly nearest: readonly string[] }
  | { readonly kind: 'unavailable'; readonly reason: string };

export interface RolloutStatusPage {
  readonly rollouts: readonly RolloutStatus[];
  /** The `before` of the following page; null: no more pages. */
  readonly next: string | null;
}

/** A filter of events. All given parts must match. */
export type EventFilter = Omit<EventSearch, 'limit'>;
export type AuditFilter = Omit<AuditSearch, 'limit'>;

/** The operator's reads and verbs for rollouts, from the store. */
export interface RolloutOperations {
  /** Current rollouts, newest first: the running ones, and the last ended one of each policy, with rollbacks and originals. */
  listRollouts(): Promise<readonly RolloutStatus[]>;
  /** A page of all stored rollouts, newest first; undefined: there is no rollout `before`. */
  pageRollouts(page: RolloutsPage): Promise<RolloutStatusPage | undefined>;
  rolloutStatus(rolloutId: string): Promise<RolloutStatus | undefined>;
  /** The last scan of each policy, and its result. */
  listPolicies(): Promise<PolicyStatuses>;
  /** A page of the rollout's collectors in plan order. */
  listUpgrades(rolloutId: string, page: UpgradePage): Promise<readonly Upgrade[] | undefined>;
  /** A page of the upgrades that match; undefined: there is no such rollout. */
  searchUpgrades(rolloutId: string, search: UpgradeSearch): Promise<FoundUpgrades | undefined>;
  /** Its history for charts; undefined: there is no such rollout. */
  showCourse(rolloutId: string): Promise<RolloutCourse | undefined>;
  /** The latest matching events, newest first. */
  readEvents(
    rolloutId: string,
    limit: number,
    filter?: EventFilter,
  ): Promise<readonly RolloutEvent[] | undefined>;
  /** The report for people; undefined: there is no such rollout. */
  report(rolloutId: string, format: ReportFormat): Promise<string | undefined>;
  /** What `rollback` would do now. */
  previewRollback(rolloutId: string): Promise<RollbackPreviewResult>;
  /** The verb is in force once this returns: after a `pause` or `abort`, no daemon sends a create (P4). */
  apply(request: VerbRequest): Promise<VerbResult>;
  /** Once this returns, no daemon sends a create for the held subject (P4). */
  hold(request: HoldRequest): Promise<HoldResult>;
  release(request: HoldRequest): Promise<HoldResult>;
  listHolds(): Promise<HeldThings>;
  /** The audit, newest first; with a filter, the entries that match it. */
  readAudit(limit: number, filter?: AuditFilter): Promise<readonly AuditEntry[]>;
  /** What builds did in ended rollouts, the newest build first. */
  listBuildHistory(): Promise<readonly BuildOutcome[]>;
  /** Why a collector is not upgraded now, and when it will be, for every policy. @param collector its id, or its exact name */
  explain(collector: string): Promise<ExplainResult>;
  /** Explains a collector of a running rollout, without a request to the service; undefined: no rollout has it. */
  explainPlanned(collector: string): Promise<ExplainResult | undefined>;
}

/** All reads and verbs of an operator, over HTTP or in the same process. */
export interface Operations extends RolloutOperations {
  /**
   * Reads the config again, all or nothing. Once this returns, the running rollouts have its limits, and no daemon sends a
   * create that only the former limits allowed (P2, P7).
   */
  reload(request: VerbBody): Promise<ReloadResult>;
  /** What `reload` would change now; changes nothing. */
  previewReload(): Promise<ReloadPreviewResult>;
  /** The plan that `start` would start now. It reads the builds and the fleet. */
  previewStart(policy: string): Promise<StartPreviewResult>;
  /** Starts a rollout with the plan that the operator saw, even after an abort of this build (P15). */
  start(request: StartRequest): Promise<StartResult>;
}
