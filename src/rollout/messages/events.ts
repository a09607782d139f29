import { someNames } from '../../base/names.ts';
import type { LeftBehind } from '../model/left-behind.ts';
import type { RolloutReason } from '../model/rollout-reason.ts';
import { notRolledBackWords, rolloutReasonWords } from './rollout-reasons.ts';
import { counted } from './sentences.ts';

/** The reason of an event. The event names the operator in a field of its own. */
export function eventReasonWords(reason: RolloutReason): string {
  return reason.kind === 'asked' ? reason.words : rolloutReasonWords(reason);
}

/** A plan was frozen. `reason`: the operator's, or empty. */
export function plannedWords(plan: {
  readonly planned: number;
  readonly targetBuild: string;
  readonly planHash: string;
  readonly reason: string;
}): string {
  const { planned, targetBuild, planHash, reason } = plan;
  return `${counted(planned, 'collector')} to ${targetBuild}, plan ${planHash}${reason === '' ? '' : `; ${reason}`}`;
}

/** A rollback was planned. */
export function rollbackPlannedWords(
  rollout: string,
  { toRollBack, left }: { readonly toRollBack: number; readonly left: readonly LeftBehind[] },
): string {
  return `rollback of ${rollout}: ${counted(toRollBack, 'collector')}${notRolledBackWords(left)}`;
}

export function joinedWords(names: readonly string[]): string {
  return `${counted(names.length, 'late joiner')}: ${someNames(names)}`;
}

export function releasedWords(label: string, reason: RolloutReason): string {
  const why = eventReasonWords(reason);
  return why === '' ? label : `${label}: ${why}`;
}

/** Strata continue without a held group: `Linux / amd64: its failures were those of fields.rack=r7`. */
export function clearedWords(strata: ReadonlyArray<{ readonly label: string }>, group: string): string {
  return `${strata.map(({ label }) => label).join('; ')}: all failures there have ${group}`;
}

export function gateChangeWords(gate: string, verdict: string, detail: string): string {
  return `${gate} ${verdict}: ${detail}`;
}

export const inventoryTrustedWords = 'the inventory is plausible again';
