import type { DurationMs } from '../../base/time.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { runScript } from '../connection/script.ts';
import { nameBucketOf } from '../schema/name-bucket.ts';
import { assertPlaces, orderScoreOf } from '../schema/plan-place.ts';
import { type RecordKeys, stagingKeys } from '../schema/rollout-keys.ts';
import type { WriteMark } from '../schema/stored-rollout.ts';
import { encodeUpgrade } from '../schema/stored-upgrade.ts';
import { stagePlanScript } from './scripts.ts';
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
): Promise<RecordKeys> {
  const { rolloutId, upgrades, mark } = plan;
  assertPlaces(upgrades);
  const staging = stagingKeys(redis.keyPrefix, rolloutId, mark.write);
  for (let from = 0; from < upgrades.length; from += recordsPerChunk) {
    const chunk = upgrades.slice(from, from + recordsPerChunk);
    const entries = chunk.map((upgrade) => encodeStaged(upgrade, mark.version));
    await runScript(redis.commands, stagePlanScript, {
      keys: staging,
      args: { write: mark.write, stagedForMs, entries },
    });
  }
  return staging;
}

function encodeStaged(upgrade: Upgrade, version: number) {
  return {
    id: String(upgrade.identity.collectorId),
    bucket: nameBucketOf(upgrade.identity.collectorName),
    record: encodeUpgrade(upgrade, version),
    order: String(orderScoreOf(upgrade)),
    index: indexOf(upgrade),
  };
}

/** Staging keys by their names in the scripts that use them up. */
export function asStaged(staging: RecordKeys) {
  return {
    stagedRecords: staging.records,
    stagedOrder: staging.order,
    stagedPending: staging.pending,
    stagedDue: staging.due,
    stagedRetries: staging.retries,
    stagedIntents: staging.intents,
    stagedMissed: staging.missed,
    stagedNames: staging.names,
  };
}
