import type { AuditEntry } from '../../contract/admin/holds.ts';
import type { RolloutFact } from '../../rollout/decision/rollout-facts.ts';
import { rolloutReasonText } from '../../rollout/messages/rollout-reasons.ts';
import { stratumWhyText } from '../../rollout/messages/stratum-reasons.ts';
import type { FleetRegister } from '../ports/fleet-register.ts';

/** Notes in the audit what the daemon held or stopped, next to what operators did. Other facts are not noted. */
export async function auditStop(
  { register }: { readonly register: Pick<FleetRegister, 'audit'> },
  rolloutId: string,
  fact: RolloutFact,
): Promise<void> {
  for (const entry of auditEntriesOf(rolloutId, fact))
    await register.audit({ ...entry, by: 'daemon', at: fact.at });
}

function auditEntriesOf(
  rolloutId: string,
  fact: RolloutFact,
): ReadonlyArray<Pick<AuditEntry, 'event' | 'subject' | 'reason'>> {
  switch (fact.kind) {
    case 'held':
    case 'aborted':
    case 'rollbackAsked': {
      const event = stopEvents[fact.kind];
      return [{ event, subject: rolloutId, reason: rolloutReasonText(fact.reason) }];
    }
    case 'strataHeld':
    case 'groupHeld': {
      const held = fact.kind === 'groupHeld' ? [fact.held] : fact.strata;
      return held.map(({ label, reason }) => ({
        event: 'stratum.held',
        subject: `${label} of ${rolloutId}`,
        reason: stratumWhyText(reason),
      }));
    }
    default:
      return [];
  }
}

const stopEvents = {
  held: 'rollout.held',
  aborted: 'rollout.aborted',
  rollbackAsked: 'rollout.rollingBack',
} as const;
