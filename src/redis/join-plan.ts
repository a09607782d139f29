import type { Fence } from '../orchestrator/ports/leader-lease.ts';
import type { FrozenPlan, SaveResult } from '../orchestrator/ports/rollout-store.ts';
import type { Upgrade } from '../rollout/upgrade.ts';
import type { RedisCommands } from './connection.ts';
import { joinScript, stageJoinersScript } from './join-scripts.ts';
import { assertPlaces, orderScoreOf } from './plan-place.ts';
import { plannedFields } from './rollout-fields.ts';
import { joinersKey, parseRolloutId, policyKeys, recordKeyList, rolloutKeys } from './rollout-keys.ts';
import { runScript } from './script.ts';
import { recordsPerChunk, stagedForMs } from './stage-plan.ts';
import { encodeUpgrade } from './stored-upgrade.ts';
import { countNew } from './upgrade-counters.ts';
import { encodeCounts, indexOf } from './upgrade-index.ts';

/** Adds late joiners to a rollout: laid ready in chunks, taken up in one step. */
export async function joinPlan(
  redis: { readonly commands: RedisCommands; readonly keyPrefix: string },
  joining: FrozenPlan,
  save: { readonly expectedRev: number; readonly fence: Fence | null; readonly write: string },
): Promise<SaveResult> {
  const { commands, keyPrefix } = redis;
  const { rollout, upgrades, groups, events } = joining;
  const { expectedRev, fence, write } = save;
  assertPlaces(upgrades);
  const staging = joinersKey(keyPrefix, rollout.id, write);
  for (let from = 0; from < upgrades.length; from += recordsPerChunk) {
    const chunk = upgrades.slice(from, from + recordsPerChunk);
    const args = chunk.flatMap((upgrade) => encodeJoiner(upgrade, write));
    await runScript(commands, stageJoinersScript, { keys: [staging], args: [stagedForMs, ...args] });
  }
  const keys = rolloutKeys(keyPrefix, rollout.id);
  const { fence: fenceKey } = policyKeys(keyPrefix, parseRolloutId(rollout.id).policy);
  const call = {
    write,
    expectedRev,
    rev: rollout.rev,
    fields: plannedFields(rollout, groups, write),
    records: upgrades.length,
    ...(fence === null ? {} : { fence }),
  };
  const answer = await runScript(commands, joinScript, {
    keys: [keys.rollout, keys.events, fenceKey, keys.groups, staging, ...recordKeyList(keys)],
    args: [
      JSON.stringify(call),
      JSON.stringify(rollout),
      JSON.stringify(groups),
      ...events.map((event) => JSON.stringify(event)),
    ],
  });
  if (answer === 'lost')
    throw new Error(`the staged joiners of rollout ${rollout.id} ran out before they were used`);
  await commands.del(staging);
  return answer as SaveResult;
}

/** Two lines, since JSON has no line break of its own: what to sort and count, and the record. */
function encodeJoiner(upgrade: Upgrade, write: string): readonly string[] {
  const index = {
    order: String(orderScoreOf(upgrade)),
    counts: encodeCounts(countNew(upgrade)),
    ...indexOf(upgrade),
  };
  const record = `${encodeUpgrade(upgrade)},"write":"${write}"}`;
  return [String(upgrade.collectorId), `${JSON.stringify(index)}\n${record}`];
}
