import type { EpochMs } from '../../base/time.ts';
import type { RolloutState } from './rollout.ts';
import type { UpgradeState } from './upgrade.ts';

/** Dotted, past tense where it happened, named after the state reached (DESIGN §5, Log). */
export type RolloutEventName =
  | `rollout.${RolloutState}`
  | 'rollout.planned'
  | 'rollout.resumed'
  | 'rollout.approved'
  | 'rollout.drifted'
  | 'rollout.joined'
  | 'rollout.reopened'
  | 'rollout.tied'
  | 'rollout.policyChanged'
  | 'rollout.windowsLifted'
  | 'inventory.implausible'
  | 'inventory.trusted'
  | 'wave.awaitingApproval'
  | 'wave.approved'
  | 'wave.opened'
  | 'wave.soaking'
  | 'wave.soakSkipped'
  | 'wave.passed'
  | 'gate.changed'
  | 'stratum.held'
  | 'stratum.released'
  | `upgrade.${UpgradeState}`;

/** One event of a rollout: who, what, why, when. Log, metrics and pages are projections of events. */
export interface RolloutEvent {
  readonly at: EpochMs;
  readonly event: RolloutEventName;
  readonly policy: string;
  readonly rollout: string;
  readonly reason: string;
  /** The reason for programs: its kind, or the verdict of a gate; absent without a reason. */
  readonly reasonKind?: string;
  /** The actor: `daemon`, `schedule`, or an operator. */
  readonly by: string;
  readonly wave?: string;
  readonly collectorId?: number;
  readonly collectorName?: string;
  readonly taskId?: string;
  readonly attempt?: number;
  /** For an end: from the first create to here. */
  readonly durationMs?: number;
  /** When the end of a task became known: how long ago it was last seen running, which is the maximum delay. */
  readonly seenDelayMs?: number;
  /** For a success: the build that it replaced. */
  readonly fromBuild?: string;
  /** For a retry or an end: the class that led to it. */
  readonly failureClass?: string;
}
