import { someNames } from '../../base/names.ts';
import type { LeftBehind } from '../model/left-behind.ts';
import type { RolloutReason } from '../model/rollout-reason.ts';
import { notRolledBackText, rolloutReasonText } from './rollout-reasons.ts';
import { counted } from './sentences.ts';

/** The reason of an event. The event names the operator in a field of its own. */
export function eventReasonText(reason: RolloutReason): string {
  return reason.kind === 'asked' ? reason.words : rolloutReasonText(reason);
}

/** A plan was frozen. `reason`: the operator's, or empty. */
export function plannedText(plan: {
  readonly planned: number;
  readonly targetBuild: string;
  readonly planHash: string;
  readonly reason: string;
}): string {
  const { planned, targetBuild, planHash, reason } = plan;
  return `${counted(planned, 'collector')} to ${targetBuild}, plan ${planHash}${reason === '' ? '' : `; ${reason}`}`;
}

/** A rollback was planned. */
export function rollbackPlannedText(
  rollout: string,
  { toRollBack, left }: { readonly toRollBack: number; readonly left: readonly LeftBehind[] },
): string {
  return `rollback of ${rollout}: ${counted(toRollBack, 'collector')}${notRolledBackText(left)}`;
}

export function joinedText(names: readonly string[]): string {
  return `${counted(names.length, 'late joiner')}: ${someNames(names)}`;
}

export function releasedText(label: string, reason: RolloutReason): string {
  const why = eventReasonText(reason);
  return why === '' ? label : `${label}: ${why}`;
}

/** Strata continue without a held group: `Linux / amd64: its failures were those of fields.rack=r7`. */
export function clearedText(strata: ReadonlyArray<{ readonly label: string }>, group: string): string {
  return `${strata.map(({ label }) => label).join('; ')}: all failures there have ${group}`;
}

export function gateChangeText(gate: string, verdict: string, detail: string): string {
  return `${gate} ${verdict}: ${detail}`;
}

export const inventoryTrustedText = 'the inventory is plausible again';
