import { randomBytes, randomUUID } from 'node:crypto';
import type { DurationMs } from '../../base/time.ts';
import type { StoreInstance } from '../../orchestrator/ports/store-instance.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { runScript } from '../connection/script.ts';
import { numberKeptMs } from '../rollout-store/freeze-plan.ts';
import { parseRolloutId, policyKeys } from '../schema/rollout-keys.ts';
import { holdField, holdsKeyOf } from './fleet-register.ts';
import { putBackHoldsScript, raiseNumberScript } from './scripts.ts';

// Longer than a daemon sleeps that still knows of the store before this one.
const backKeptMs: DurationMs = 30 * 86_400_000;

/** Marks that a Redis gets once and keeps for good: another one, or none, means that what lay beside it is gone, too. */
export function makeRedisStoreInstance(redis: {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
}): StoreInstance {
  const { commands, keyPrefix } = redis;
  const identifyPlace = (key: string) => readOrMake(commands, key, randomUUID);
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
        await runScript(commands, raiseNumberScript, {
          keys: { number: policyKeys(keyPrefix, policy).number(yyyymmdd) },
          args: { taken: number, keptMs: numberKeptMs },
        });
      }
      const holds = [...builds, ...collectors];
      if (holds.length === 0) return;
      await runScript(commands, putBackHoldsScript, {
        keys: { holds: holdsKeyOf(keyPrefix), broughtBack: `${keyPrefix}:{fleet}:mark:back:${holdsMark}` },
        args: {
          entries: holds.map((hold) => ({ field: holdField(hold), text: JSON.stringify(hold) })),
          keptMs: backKeptMs,
        },
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
export function readInstallationKey(redis: {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
}): Promise<string> {
  const make = () => randomBytes(32).toString('hex');
  return readOrMake(redis.commands, `${redis.keyPrefix}:{leader}:installation`, make);
}

/** Reads a text that is made once and kept for good. */
async function readOrMake(commands: RedisCommands, key: string, make: () => string): Promise<string> {
  const kept = await commands.get(key);
  if (kept !== null) return kept;
  // Two daemons that make it at once: the first one's stays.
  await commands.set(key, make(), 'NX');
  return (await commands.get(key)) ?? '';
}
