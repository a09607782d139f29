import type { AdminClient } from '../admin-api/admin-client.ts';
import { AdminClientFault } from '../admin-api/admin-client-fault.ts';
import type { RolloutStatus } from '../rollout/status.ts';

/** What is current, and the named one from the history, where it is the id of a rollout that is kept. */
export async function listRollouts(
  client: Pick<AdminClient, 'listRollouts' | 'rolloutStatus'>,
  named: string | undefined,
): Promise<readonly RolloutStatus[]> {
  const current = await client.listRollouts();
  if (named === undefined || !rolloutIdShape.test(named)) return current;
  if (current.some(({ id, policy }) => id === named || policy === named)) return current;
  try {
    return [...current, await client.rolloutStatus(named)];
  } catch (error) {
    if (error instanceof AdminClientFault && error.kind === 'notFound') return current;
    throw error;
  }
}

const rolloutIdShape = /^.+-\d{8}-\d+$/;
