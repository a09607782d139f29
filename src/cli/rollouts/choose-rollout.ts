import type { AdminClient } from '../../admin-api/client/admin-client.ts';
import { AdminClientFault } from '../../admin-api/client/admin-client-fault.ts';
import { nearestNames, orNames } from '../../base/names.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { isRolloutId } from '../../rollout/model/rollout-id.ts';
import { awaitsApproval } from '../../rollout/status/headline.ts';
import type { RolloutVerb } from '../../rollout/verbs/judge-verb.ts';
import { UsageFailure } from '../shell/command.ts';

/**
 * Finds the rollout by its id, by its policy's name, or as the only one that the verb applies to.
 * @param rollouts newest first
 * @param verb `look`: the command only reads, so an ended rollout is accepted, too
 * @throws CommandFailure when there is none, or more than one
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
  const what = named === undefined ? 'name the rollout' : unknownText(rollouts, named);
  throw new UsageFailure(`${what}; running: ${choice.join(', ') || 'none'}`);
}

function unknownText(rollouts: readonly RolloutStatus[], named: string): string {
  // A policy's name begins the ids of its rollouts.
  const ofPolicies = nearestNames(
    named,
    rollouts.map(({ policy }) => policy),
  );
  const near =
    ofPolicies.length > 0
      ? ofPolicies
      : nearestNames(
          named,
          rollouts.map(({ id }) => id),
        );
  const offer = near.length === 0 ? '' : ` (did you mean ${orNames(near)}?)`;
  return `there is no rollout or policy ${named}${offer}`;
}

function namedOne(
  rollouts: readonly RolloutStatus[],
  named: string,
  verb: RolloutVerb | 'read' | undefined,
): RolloutStatus | undefined {
  const matching = rollouts.filter(({ id, policy }) => id === named || policy === named);
  // A rollout and its rollback belong to one policy. The verb decides between them.
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

/** Whether the verb applies to ended rollouts. */
function takesEnded(verb: RolloutVerb | 'read' | undefined): boolean {
  return verb === 'rollback' || verb === 'retry' || verb === 'read';
}

/** Leaves out rollouts that only wait for their rollback to end, because the operator means the rollback. */
function onTheirWay(rollouts: readonly RolloutStatus[]): readonly RolloutStatus[] {
  const active = rollouts.filter(({ endedAt }) => endedAt === null);
  const ids = new Set(active.map(({ id }) => id));
  return active.filter(({ rollbackId }) => rollbackId === null || !ids.has(rollbackId));
}

/** Asks the daemon for the rollouts, and finds the one that is meant. @throws CommandFailure as `chooseRollout` */
export async function findRollout(
  client: Pick<AdminClient, 'listRollouts' | 'rolloutStatus'>,
  named: string | undefined,
  verb: RolloutVerb | 'read',
): Promise<RolloutStatus> {
  return chooseRollout(await listRollouts(client, named), named, verb);
}

/** The current rollouts, and the named one from the history, if its record still exists. */
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
