import { randomBytes, randomUUID } from 'node:crypto';
import type { DurationMs } from '../../base/time.ts';
import type { StoreInstance } from '../../orchestrator/ports/store-instance.ts';
import { makeScript, runScript } from '../connection/commands.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { numberKeptMs } from '../rollout-store/freeze-plan.ts';
import { parseRolloutId, policyKeys } from '../schema/rollout-keys.ts';
import { holdField, holdsKeyOf } from './fleet-register.ts';

/** KEYS: born. ARGV: the mark if there is none. Answers the mark. */
const identifyScript = makeScript(`
local born = redis.call('GET', KEYS[1])
if born then return born end
redis.call('SET', KEYS[1], ARGV[1])
return ARGV[1]
`);

// Longer than a daemon sleeps that still knows of the store before this one.
const backKeptMs: DurationMs = 30 * 86_400_000;

/**
 * Each hold comes back once for a mark, whichever daemon brings it: a second one, late, would undo a release. What an
 * operator has said anew stands. KEYS: holds, set of fields that were brought. ARGV: its life in ms; fields and holds.
 */
const putBackScript = makeScript(`
for at = 2, #ARGV, 2 do
  if redis.call('SADD', KEYS[2], ARGV[at]) == 1 then redis.call('HSETNX', KEYS[1], ARGV[at], ARGV[at + 1]) end
end
redis.call('PEXPIRE', KEYS[2], ARGV[1])
return #ARGV
`);

/** KEYS: the number of a day's last rollout. ARGV: a number that is taken, the key's life in ms. */
const raiseNumberScript = makeScript(`
if tonumber(ARGV[1]) > tonumber(redis.call('GET', KEYS[1]) or '0') then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return 1
`);

/** Marks that a Redis gets once and keeps for good: another one, or none, means that what lay beside it is gone, too. */
export function makeRedisStoreInstance(redis: {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
}): StoreInstance {
  const { commands, keyPrefix } = redis;
  const identifyPlace = async (key: string): Promise<string> =>
    String(await runScript(commands, identifyScript, { keys: [key], args: [randomUUID()] }));
  return {
    identify: async (policies) => {
      const [whole, holds, ...ofPolicies] = await Promise.all([
        identifyPlace(bornKey(keyPrefix)),
        identifyPlace(`${keyPrefix}:{fleet}:mark:born`),
        ...policies.map((policy) => identifyPlace(policyKeys(keyPrefix, policy).born)),
      ]);
      return {
        whole,
        holds,
        policies: new Map(policies.map((policy, index) => [policy, ofPolicies[index] ?? ''])),
      };
    },
    putBack: async ({ holdsMark, builds, collectors, takenIds }) => {
      for (const id of takenIds) {
        const { policy, yyyymmdd, number } = parseRolloutId(id);
        const keys = [policyKeys(keyPrefix, policy).number(yyyymmdd)];
        await runScript(commands, raiseNumberScript, { keys, args: [number, numberKeptMs] });
      }
      const holds = [...builds, ...collectors];
      if (holds.length === 0) return;
      await runScript(commands, putBackScript, {
        keys: [holdsKeyOf(keyPrefix), `${keyPrefix}:{fleet}:mark:back:${holdsMark}`],
        args: [backKeptMs, ...holds.flatMap((hold) => [holdField(hold), JSON.stringify(hold)])],
      });
    },
  };
}

export function bornKey(keyPrefix: string): string {
  return `${keyPrefix}:{leader}:born`;
}

/**
 * Reads the random key of this installation, and makes it where there is none. Access ids are hashed with it, so that
 * what is kept in Redis tells nobody which they are, nor that two installations have the same (P12).
 */
export async function readInstallationKey(redis: {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
}): Promise<string> {
  const key = `${redis.keyPrefix}:{leader}:installation`;
  const kept = await redis.commands.get(key);
  if (kept !== null) return kept;
  // Two daemons that make it at once: the first one's stays.
  await redis.commands.set(key, randomBytes(32).toString('hex'), 'NX');
  return (await redis.commands.get(key)) ?? '';
}
