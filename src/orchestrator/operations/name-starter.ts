import type { Clock, DurationMs, EpochMs } from '../../base/time.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { auditKeptMax, type FleetRegister } from '../ports/fleet-register.ts';

/** A start stands in the audit a moment after its rollout exists. */
const auditLagMax: DurationMs = 60_000;

/**
 * Makes the function that says who started a rollout. The record of a rollout that an operator started has no name, but
 * the audit does. The audit is read again only for a rollout that is newer than the last read.
 */
export function makeNameStarter({
  register,
  clock,
}: {
  readonly register: Pick<FleetRegister, 'readAudit'>;
  readonly clock: Clock;
}): (rollout: Pick<Rollout, 'id' | 'startedBy' | 'createdAt'>) => Promise<string> {
  let last: { readonly at: EpochMs; readonly names: Promise<ReadonlyMap<string, string>> } | undefined;
  const readNames = async () => {
    const starts = (await register.readAudit(auditKeptMax)).filter(
      ({ event }) => event === 'rollout.started',
    );
    return new Map(starts.map(({ subject, by }) => [subject, by]));
  };
  const forget = (): void => {
    last = undefined;
  };
  return async ({ id, startedBy, createdAt }) => {
    if (startedBy !== 'operator') return startedBy;
    const known = last !== undefined && (await last.names).get(id);
    if (typeof known === 'string') return known;
    const now = clock.now();
    if (last === undefined || (last.at < now && createdAt + auditLagMax > last.at)) {
      last = { at: now, names: readNames() };
      last.names.catch(forget);
    }
    return (await last.names).get(id) ?? startedBy;
  };
}
