import type { Rollout } from '../rollout/rollout.ts';
import type { BrokenRecords } from './broken-records.ts';
import type { RedisCommands } from './connection.ts';
import { policyKeys, rolloutKeys } from './rollout-keys.ts';
import { decodeRollout } from './stored-rollout.ts';

interface Redis {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
}

// A policy looked at every 15 minutes that found work each time would make this many in ten days.
export const rolloutsListedMax = 1_000;

/** @throws BrokenRecordError */
export async function loadRollout(redis: Redis, rolloutId: string): Promise<Rollout | undefined> {
  return decodeStored(await loadStored(redis, rolloutId));
}

/** The kept rollouts of a policy that can be read, newest first, rollbacks among them. */
export async function listKept(
  redis: Redis,
  broken: BrokenRecords,
  policy: string,
): Promise<readonly Rollout[]> {
  const key = policyKeys(redis.keyPrefix, policy).rollouts;
  const ids = await redis.commands.zrevrange(key, 0, rolloutsListedMax - 1);
  const stored = await Promise.all(ids.map((id) => loadStored(redis, id)));
  const rollouts = stored.map((rollout) => broken.read(() => decodeStored(rollout)));
  return rollouts.filter((rollout) => rollout !== undefined);
}

/** Takes rollouts whose keys have expired out of the policy's list; the eldest go first, so that none stays. */
export async function forgetExpired(redis: Redis, policy: string): Promise<void> {
  const { commands, keyPrefix } = redis;
  const { rollouts } = policyKeys(keyPrefix, policy);
  const old = await commands.zrange(rollouts, '0', String(rolloutsListedMax - 1));
  const kept = await Promise.all(old.map((id) => commands.exists(rolloutKeys(keyPrefix, id).rollout)));
  const gone = old.filter((_id, index) => kept[index] === 0);
  if (gone.length > 0) await commands.zrem(rollouts, ...gone);
}

interface StoredRollout {
  readonly id: string;
  readonly json: string | null | undefined;
  readonly rev: string | null | undefined;
}

async function loadStored(redis: Redis, id: string): Promise<StoredRollout> {
  const [json, rev] = await redis.commands.hmget(rolloutKeys(redis.keyPrefix, id).rollout, 'json', 'rev');
  return { id, json, rev };
}

function decodeStored({ id, json, rev }: StoredRollout): Rollout | undefined {
  return typeof json === 'string' ? decodeRollout(json, Number(rev), id) : undefined;
}
