import { nearestText } from '../base/nearest-text.ts';
import { awaitsApproval } from '../rollout/awaits-approval.ts';
import type { RolloutStatus } from '../rollout/status.ts';
import type { RolloutVerb } from '../rollout/verbs.ts';
import { CommandFailure } from './command-failure.ts';
import { exitCodes } from './exit-codes.ts';

/**
 * The rollout that is meant: by its id, by its policy's name, or the only one that the verb can be meant for.
 * @param rollouts newest first
 * @param verb `look`: nothing is changed, and one that is over is as good
 * @throws CommandFailure when that is none, or more than one
 */
export function chooseRollout(
  rollouts: readonly RolloutStatus[],
  named: string | undefined,
  verb?: RolloutVerb | 'look',
): RolloutStatus {
  const chosen = named === undefined ? onlyOneFor(rollouts, verb) : namedOne(rollouts, named, verb);
  if (chosen !== undefined) return chosen;
  const choice = onTheirWay(rollouts).map(({ id }) => id);
  const what = named === undefined ? 'say which rollout' : unknownWords(rollouts, named);
  throw new CommandFailure(exitCodes.usageOrConfig, `${what}; on their way: ${choice.join(', ') || 'none'}`);
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
  verb: RolloutVerb | 'look' | undefined,
): RolloutStatus | undefined {
  const matching = rollouts.filter(({ id, policy }) => id === named || policy === named);
  // A rollout and its rollback are of one policy: the verb tells which is meant.
  return (verb === 'approve' ? matching.find(awaitsApproval) : undefined) ?? matching[0];
}

function onlyOneFor(
  rollouts: readonly RolloutStatus[],
  verb: RolloutVerb | 'look' | undefined,
): RolloutStatus | undefined {
  const active = onTheirWay(rollouts);
  const waiting = verb === 'approve' ? active.filter(awaitsApproval) : [];
  const candidates = waiting.length > 0 ? waiting : active;
  if (candidates.length > 0) return candidates.length === 1 ? candidates[0] : undefined;
  const looksBack = verb === 'rollback' || verb === 'retry' || verb === 'look';
  const policies = new Set(rollouts.map(({ policy }) => policy));
  return looksBack && policies.size === 1 ? rollouts[0] : undefined;
}

/** Without those that only wait for their rollback to end: what an operator says is meant for the rollback. */
function onTheirWay(rollouts: readonly RolloutStatus[]): readonly RolloutStatus[] {
  const active = rollouts.filter(({ endedAt }) => endedAt === null);
  const ids = new Set(active.map(({ id }) => id));
  return active.filter(({ rollbackId }) => rollbackId === null || !ids.has(rollbackId));
}
