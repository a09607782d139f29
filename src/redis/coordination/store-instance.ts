import { randomBytes, randomUUID } from 'node:crypto';
import type { DurationMs } from '../../base/time.ts';
import type { StoreInstance } from '../../orchestrator/ports/fleet-register.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';
import { makeWriteMarks } from '../connection/commands.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { runScript } from '../connection/script.ts';
import { numberKeptMs } from '../rollout-store/store-plan.ts';
import { policyKeys } from '../schema/rollout-keys.ts';
import { holdField, holdsKeysOf } from './fleet-register.ts';
import { putBackHoldsScript, raiseNumberScript } from './scripts.ts';

// Longer than any daemon is suspended that still knows the previous store.
const backKeptMs: DurationMs = 30 * 86_400_000;

/** The id that a Redis gets once and keeps. Another id, or none, means that the data beside it is lost as well. */
export function makeRedisStoreInstance(redis: {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
}): StoreInstance {
  const { commands, keyPrefix } = redis;
  const nextMark = makeWriteMarks();
  return {
    identify: () => readOrMake(commands, instanceKey(keyPrefix), randomUUID),
    putBack: async ({ instance, holds: { builds, collectors, groups }, takenIds }) => {
      for (const id of takenIds) {
        const { policy, yyyymmdd, number } = parseRolloutId(id);
        await runScript(commands, raiseNumberScript, {
          keys: { number: policyKeys(keyPrefix, policy).number(yyyymmdd) },
          args: { taken: number, keptMs: numberKeptMs },
        });
      }
      const holds = [...builds, ...collectors, ...groups];
      if (holds.length === 0) return;
      await runScript(commands, putBackHoldsScript, {
        keys: { ...holdsKeysOf(keyPrefix), broughtBack: `${keyPrefix}:{fleet}:mark:back:${instance}` },
        args: {
          entries: holds.map((hold) => ({ field: holdField(hold), text: JSON.stringify(hold) })),
          mark: nextMark(),
          keptMs: backKeptMs,
        },
      });
    },
  };
}

/** The key is on the same node as the holds, so that both are lost together. */
export function instanceKey(keyPrefix: string): string {
  return `${keyPrefix}:{fleet}:instance`;
}

function installationKey(keyPrefix: string): string {
  return `${keyPrefix}:{leader}:installation`;
}

/**
 * Reads the random key of this installation, and creates it when it is missing. Access ids are hashed with it, so that Redis
 * shows neither which they are, nor that two installations have the same (P12).
 */
export function readInstallationKey(redis: {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
}): Promise<string> {
  const make = () => randomBytes(32).toString('hex');
  return readOrMake(redis.commands, installationKey(redis.keyPrefix), make);
}

/** Reads a text that is created once and kept. */
async function readOrMake(commands: RedisCommands, key: string, make: () => string): Promise<string> {
  const kept = await commands.get(key);
  if (kept !== null) return kept;
  // When two daemons create it at once, the first one's is kept.
  await commands.set(key, make(), 'NX');
  return (await commands.get(key)) ?? '';
}
