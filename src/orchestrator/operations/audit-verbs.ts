import { showCount } from '../../base/singular-or-plural.ts';
import type { Clock } from '../../base/time.ts';
import type { AuditEvent } from '../../base/vocabulary.ts';
import { counted } from '../../rollout/messages/sentences.ts';
import type { RolloutVerb } from '../../rollout/verbs/judge-verb.ts';
import type { FleetRegister } from '../ports/fleet-register.ts';
import type { RetriedFailures } from './apply-verb.ts';
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

/**
 * Records who ran a verb that changed something, for the audit over all rollouts.
 * @param retried what a retry did. Some failures may have come since the operator looked
 */
export async function auditVerb(
  parts: AuditParts,
  request: VerbRequest,
  retried?: RetriedFailures,
): Promise<void> {
  const { verb, rolloutId, by, reason } = request;
  const what = retried === undefined ? meantBy(request) : retriedWords(request, retried);
  const subject = [rolloutId, ...what].join(' ');
  await parts.register.audit({ at: parts.clock.now(), event: eventOf[verb], subject, by, reason });
}

/** What of the rollout the operator confirmed (P15), after its id in the subject. */
function meantBy(request: VerbRequest): readonly string[] {
  switch (request.verb) {
    case 'approve':
      return 'wave' in request ? [`wave ${request.wave}`] : [`plan ${request.planHash}`];
    case 'skipSoak':
      return [`wave ${request.wave}`];
    case 'retry':
    case 'rollback':
    case 'resume':
    case 'pause':
    case 'abort':
      return [];
    default:
      return request satisfies never;
  }
}

function retriedWords(request: VerbRequest, { chosen, failed }: RetriedFailures): readonly string[] {
  const all = counted(failed, 'failure');
  if (request.verb !== 'retry' || (request.cause === undefined && request.collectorIds === undefined))
    return [all];
  const which = request.cause === undefined ? [] : [`("${request.cause}")`];
  return [`${showCount(chosen)} of ${all}`, ...which];
}
