import type { Clock } from '../../base/time.ts';
import type { AuditEvent } from '../../base/vocabulary.ts';
import type { RolloutVerb } from '../../rollout/verbs/judge-verb.ts';
import type { FleetRegister } from '../ports/fleet-register.ts';
import type { VerbRequest } from './operations.ts';

interface AuditParts {
  readonly register: Pick<FleetRegister, 'audit'>;
  readonly clock: Clock;
}

const eventOf: Readonly<Record<RolloutVerb, AuditEvent>> = {
  pause: 'rollout.paused',
  resume: 'rollout.resumed',
  approve: 'rollout.approved',
  skipSoak: 'wave.soakSkipped',
  abort: 'rollout.aborted',
  rollback: 'rollout.rollingBack',
  retry: 'rollout.retried',
};

/** Records who ran a verb that changed something, for the audit over all rollouts. */
export async function auditVerb(parts: AuditParts, request: VerbRequest): Promise<void> {
  const { verb, rolloutId, by, reason } = request;
  const subject = 'wave' in request ? `${rolloutId} wave ${request.wave}` : rolloutId;
  await parts.register.audit({ at: parts.clock.now(), event: eventOf[verb], subject, by, reason });
}
