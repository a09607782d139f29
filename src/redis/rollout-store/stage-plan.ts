import type { DurationMs } from '../../base/time.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import { runScript } from '../connection/commands.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { assertPlaces, orderScoreOf } from '../schema/plan-place.ts';
import { recordKeyList, stagingKeys } from '../schema/rollout-keys.ts';
import type { WriteMark } from '../schema/stored-rollout.ts';
import { encodeUpgrade } from '../schema/stored-upgrade.ts';
import { stageScript } from './freeze-scripts.ts';
import { indexOf } from './upgrade-index.ts';

// One chunk keeps Redis busy for a few milliseconds, and is a few hundred KB on the wire.
export const recordsPerChunk = 500;

// A plan of 100,000 is staged in seconds; a daemon that needs minutes for it has died.
export const stagedForMs: DurationMs = 600_000;

/**
 * Writes a plan's records in chunks beside the living keys, so that one script can put them in their place.
 * @returns the staging keys @throws when the plan is larger than the places reach
 */
export async function stagePlan(
  redis: { readonly commands: RedisCommands; readonly keyPrefix: string },
  plan: { readonly rolloutId: string; readonly upgrades: readonly Upgrade[]; readonly mark: WriteMark },
): Promise<readonly string[]> {
  const { rolloutId, upgrades, mark } = plan;
  assertPlaces(upgrades);
  const staging = recordKeyList(stagingKeys(redis.keyPrefix, rolloutId, mark.write));
  for (let from = 0; from < upgrades.length; from += recordsPerChunk) {
    const chunk = upgrades.slice(from, from + recordsPerChunk);
    const args = chunk.flatMap((upgrade) => encodeStaged(upgrade, mark));
    await runScript(redis.commands, stageScript, { keys: staging, args: [stagedForMs, ...args] });
  }
  return staging;
}

function encodeStaged(upgrade: Upgrade, { write, version }: WriteMark): readonly string[] {
  const index = { order: String(orderScoreOf(upgrade)), ...indexOf(upgrade) };
  return [
    String(upgrade.identity.collectorId),
    JSON.stringify(index),
    `${encodeUpgrade(upgrade, version)},"write":"${write}"}`,
  ];
}
