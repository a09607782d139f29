import type { ReadinessCheck } from '../admin-api/readiness.ts';
import type { ReadApiStanding } from '../orchestrator/ports/api-budget.ts';
import type { Standstill } from '../rollout/api-standing.ts';
import type { FleetAccess } from './fleet-access.ts';

/**
 * Whether the service answers, and whether all wait for it: also what daemons before this one found.
 * @param readStanding null while Redis can't be asked
 */
export async function serviceReadiness(
  access: Pick<FleetAccess, 'readiness'>,
  readStanding: ReadApiStanding | null,
): Promise<ReadinessCheck> {
  const ours = access.readiness();
  if (readStanding === null) return ours;
  let standstill: Standstill | null;
  try {
    ({ standstill } = await readStanding());
  } catch {
    // Its own check says what is wrong with Redis.
    return ours;
  }
  if (standstill === null) return ours;
  const { kind, reason, detail, since, until } = standstill;
  if (kind !== 'serviceDown') {
    const end = until === null ? 'one request tries for all' : `all wait until ${isoOf(until)}`;
    return { ok: ours.ok, reason: `${ours.reason}; ${end}: ${reason}` };
  }
  const began = since === null ? '' : ` since ${isoOf(since)}`;
  const next = until === null ? 'now' : `next at ${isoOf(until)}`;
  const sinceWhen = since === null ? {} : { since };
  return {
    ok: false,
    kind: 'down',
    ...sinceWhen,
    reason: `down${began}: one request at a time tries it, ${next}. ${detail ?? reason}`,
  };
}

function isoOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}Z`;
}
