import type { AdminClient } from '../../admin-api/client/admin-client.ts';
import { AdminClientFault } from '../../admin-api/client/admin-client-fault.ts';
import { nearestText } from '../../base/names.ts';
import { isRolloutId } from '../../rollout/model/rollout-id.ts';
import { awaitsApproval } from '../../rollout/status/headline.ts';
import type { RolloutStatus } from '../../rollout/status/status.ts';
import type { RolloutVerb } from '../../rollout/verbs/verbs.ts';
import { UsageFailure } from '../shell/command.ts';

/**
 * The rollout that is meant: by its id, by its policy's name, or the only one that the verb can be meant for.
 * @param rollouts newest first
 * @param verb `look`: nothing is changed, and one that is over is as good
 * @throws CommandFailure when that is none, or more than one
 */
export function chooseRollout(
  rollouts: readonly RolloutStatus[],
  named: string | undefined,
  verb?: RolloutVerb | 'read',
): RolloutStatus {
  const chosen = named === undefined ? onlyOneFor(rollouts, verb) : namedOne(rollouts, named, verb);
  if (chosen !== undefined) return chosen;
  const choice = onTheirWay(rollouts).map(({ id }) => id);
  if (named === undefined && choice.length === 0 && !takesEnded(verb))
    throw new UsageFailure('no rollout is running');
  const what = named === undefined ? 'name the rollout' : unknownWords(rollouts, named);
  throw new UsageFailure(`${what}; running: ${choice.join(', ') || 'none'}`);
}

function unknownWords(rollouts: readonly RolloutStatus[], named: string): string {
  const nearest = nearestText(named, [
    ...rollouts.map(({ policy }) => policy),
    ...rollouts.map(({ id }) => id),
  ]);
  const offer = nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
  return `no rollout and no policy is called ${named}${offer}`;
}

function namedOne(
  rollouts: readonly RolloutStatus[],
  named: string,
  verb: RolloutVerb | 'read' | undefined,
): RolloutStatus | undefined {
  const matching = rollouts.filter(({ id, policy }) => id === named || policy === named);
  // A rollout and its rollback are of one policy: the verb shows which is meant.
  return (verb === 'approve' ? matching.find(awaitsApproval) : undefined) ?? matching[0];
}

function onlyOneFor(
  rollouts: readonly RolloutStatus[],
  verb: RolloutVerb | 'read' | undefined,
): RolloutStatus | undefined {
  const active = onTheirWay(rollouts);
  const waiting = verb === 'approve' ? active.filter(awaitsApproval) : [];
  const candidates = waiting.length > 0 ? waiting : active;
  if (candidates.length > 0) return candidates.length === 1 ? candidates[0] : undefined;
  const policies = new Set(rollouts.map(({ policy }) => policy));
  return takesEnded(verb) && policies.size === 1 ? rollouts[0] : undefined;
}

/** Whether a rollout that has ended can be meant. */
function takesEnded(verb: RolloutVerb | 'read' | undefined): boolean {
  return verb === 'rollback' || verb === 'retry' || verb === 'read';
}

/** Without those that only wait for their rollback to end: what an operator says is meant for the rollback. */
function onTheirWay(rollouts: readonly RolloutStatus[]): readonly RolloutStatus[] {
  const active = rollouts.filter(({ endedAt }) => endedAt === null);
  const ids = new Set(active.map(({ id }) => id));
  return active.filter(({ rollbackId }) => rollbackId === null || !ids.has(rollbackId));
}

/** What is current, and the named one from the history, where it is the id of a rollout that is kept. */
export async function listRollouts(
  client: Pick<AdminClient, 'listRollouts' | 'rolloutStatus'>,
  named: string | undefined,
): Promise<readonly RolloutStatus[]> {
  const current = await client.listRollouts();
  if (named === undefined || !isRolloutId(named)) return current;
  if (current.some(({ id, policy }) => id === named || policy === named)) return current;
  try {
    return [...current, await client.rolloutStatus(named)];
  } catch (error) {
    if (error instanceof AdminClientFault && error.kind === 'notFound') return current;
    throw error;
  }
}
