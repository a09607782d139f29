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
    await register.audit({ by: 'daemon', ...entry, at: fact.at });
}

function auditEntriesOf(
  rolloutId: string,
  fact: RolloutFact,
): ReadonlyArray<Pick<AuditEntry, 'event' | 'subject' | 'reason'> & Partial<Pick<AuditEntry, 'by'>>> {
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
      // The daemon may be the one that carries an operator's hold of a group into a rollout.
      return held.map(({ label, reason, by }) => ({
        event: 'stratum.held',
        subject: `${label} of ${rolloutId}`,
        reason: stratumWhyText(reason),
        by,
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
