import type { RolloutEventBody } from '../../contract/admin/rollout-event.ts';
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

/**
 * One event of a rollout. Log, metrics and pages are projections of events. Names of events are open in the admin API,
 * because a daemon may be newer than its reader (P13).
 */
export interface RolloutEvent extends Readonly<RolloutEventBody> {
  readonly event: RolloutEventName;
}
