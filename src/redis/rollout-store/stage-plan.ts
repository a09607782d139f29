import type { DurationMs } from '../../base/time.ts';
import type { FrozenPlan } from '../../orchestrator/ports/rollout-store.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import { runScript } from '../connection/script.ts';
import { nameBucketOf } from '../schema/name-bucket.ts';
import { assertPlaces, orderScoreOf } from '../schema/plan-place.ts';
import { type RecordKeys, stagingKeys } from '../schema/rollout-keys.ts';
import type { WriteMark } from '../schema/stored-rollout.ts';
import { encodeUpgrade } from '../schema/stored-upgrade.ts';
import { stagePlanScript } from './scripts.ts';
import type { StoreContext } from './store-context.ts';
import { indexOf } from './upgrade-index.ts';

// One chunk keeps Redis busy for a few milliseconds, and has a few hundred KB.
const recordsPerChunk = 500;

// A plan of 100,000 is staged in seconds. A daemon that needs minutes has died.
export const stagedForMs: DurationMs = 600_000;

/**
 * Writes a plan's records in chunks to staging keys, so that one script can install them.
 * @returns the staging keys @throws when the plan exceeds the maximum size
 */
export async function stagePlan(
  { commands, keyPrefix }: StoreContext,
  { rollout, upgrades }: FrozenPlan,
  { write, version }: WriteMark,
): Promise<RecordKeys> {
  const keys = stagingKeys(keyPrefix, rollout.id, write);
  for (const chunk of chunksOf(upgrades)) {
    const entries = chunk.map((upgrade) => encodeStaged(upgrade, version));
    await runScript(commands, stagePlanScript, { keys, args: { write, stagedForMs, entries } });
  }
  return keys;
}

/** Splits records into chunks. @throws when the plan exceeds the maximum size */
export function chunksOf(upgrades: readonly Upgrade[]): ReadonlyArray<readonly Upgrade[]> {
  assertPlaces(upgrades);
  const count = Math.ceil(upgrades.length / recordsPerChunk);
  return Array.from({ length: count }, (_chunk, index) =>
    upgrades.slice(index * recordsPerChunk, (index + 1) * recordsPerChunk),
  );
}

/** Encodes a record for `stage-plan.lua` and `join-plan.lua`. */
export function encodeStaged(upgrade: Upgrade, version: number) {
  return {
    id: String(upgrade.identity.collectorId),
    bucket: nameBucketOf(upgrade.identity.collectorName),
    record: encodeUpgrade(upgrade, version),
    order: String(orderScoreOf(upgrade)),
    index: indexOf(upgrade),
  };
}

/** Staging keys by their names in the scripts. */
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
