import { PolicySchema } from '../config/policy-schema.ts';
import type { Policy } from '../rollout/policy.ts';
import type { Rollout } from '../rollout/rollout.ts';
import { rebuildRollout } from '../rollout/unreadable-rollout.ts';
import type { BrokenRecords } from './broken-records.ts';
import type { RedisCommands } from './connection.ts';
import { loadRemains } from './load-remains.ts';
import { parseRolloutId, policyKeys, rolloutKeys } from './rollout-keys.ts';
import { decodeRollout, rolloutName } from './stored-rollout.ts';

export interface KeptRollouts {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  /** Who is told of what can't be read. */
  readonly broken: BrokenRecords;
  /** Of the config: for a rollout whose own record can't be read. */
  readonly policies: readonly Policy[];
}

// A policy looked at every 15 minutes that found work each time would make this many in ten days.
export const rolloutsListedMax = 1_000;

/** One whose own record can't be read is what is known beside it. */
export async function loadRollout(kept: KeptRollouts, rolloutId: string): Promise<Rollout | undefined> {
  const key = rolloutKeys(kept.keyPrefix, rolloutId).rollout;
  const [json, rev] = await kept.commands.hmget(key, 'json', 'rev');
  if (typeof rev !== 'string') return undefined;
  return readRollout(kept, rolloutId, { json: json ?? '', rev });
}

/** The same of what was read of it already. */
export async function readRollout(
  kept: KeptRollouts,
  rolloutId: string,
  { json, rev }: { readonly json: string; readonly rev: string },
): Promise<Rollout | undefined> {
  const rollout = kept.broken.read(() => decodeRollout(json, Number(rev), rolloutId));
  if (rollout !== undefined) {
    kept.broken.forget(rolloutName(rolloutId));
    return rollout;
  }
  const remains = await loadRemains(kept, rolloutId, json);
  if (remains === undefined) return undefined;
  const { policy: name } = parseRolloutId(rolloutId);
  return rebuildRollout(remains, kept.policies.find((policy) => policy.name === name) ?? usualPolicy(name));
}

/** The kept rollouts of a policy, newest first, rollbacks among them. */
export async function listKept(kept: KeptRollouts, policy: string): Promise<readonly Rollout[]> {
  const key = policyKeys(kept.keyPrefix, policy).rollouts;
  const ids = await kept.commands.zrevrange(key, 0, rolloutsListedMax - 1);
  const rollouts = await Promise.all(ids.map((id) => loadRollout(kept, id)));
  return rollouts.filter((rollout) => rollout !== undefined);
}

/** Of a policy that the config does not have any more: nobody acts by it. */
function usualPolicy(name: string): Policy {
  return { ...PolicySchema.parse({ name: 'usual' }), name };
}

/** Takes rollouts whose keys have expired out of the policy's list; the eldest go first, so that none stays. */
export async function forgetExpired(
  { commands, keyPrefix }: Pick<KeptRollouts, 'commands' | 'keyPrefix'>,
  policy: string,
): Promise<void> {
  const { rollouts } = policyKeys(keyPrefix, policy);
  const old = await commands.zrange(rollouts, '0', String(rolloutsListedMax - 1));
  const kept = await Promise.all(old.map((id) => commands.exists(rolloutKeys(keyPrefix, id).rollout)));
  const gone = old.filter((_id, index) => kept[index] === 0);
  if (gone.length > 0) await commands.zrem(rollouts, ...gone);
}
