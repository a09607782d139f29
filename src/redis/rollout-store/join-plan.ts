import type { Fence } from '../../orchestrator/ports/leader.ts';
import type { FrozenPlan, SaveResult } from '../../orchestrator/ports/rollout-store.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { runScript } from '../connection/script.ts';
import { nameBucketOf } from '../schema/name-bucket.ts';
import { assertPlaces, orderScoreOf } from '../schema/plan-place.ts';
import { joinersKey, policyKeys, rolloutKeys } from '../schema/rollout-keys.ts';
import { encodeAttributes } from '../schema/stored-attributes.ts';
import { plannedFields, type WriteMark } from '../schema/stored-rollout.ts';
import { encodeUpgrade } from '../schema/stored-upgrade.ts';
import { joinPlanScript, stageJoinersScript } from './scripts.ts';
import { recordsPerChunk, stagedForMs } from './stage-plan.ts';
import { countNew } from './upgrade-counters.ts';
import { encodeCounts, encodeEvents, indexOf } from './upgrade-index.ts';

/** Adds late joiners to a rollout: laid ready in chunks, taken up in one step. */
export async function joinPlan(
  redis: { readonly commands: RedisCommands; readonly keyPrefix: string },
  joining: FrozenPlan,
  save: { readonly expectedRev: number; readonly fence: Fence | null; readonly mark: WriteMark },
): Promise<SaveResult> {
  const { commands, keyPrefix } = redis;
  const { rollout, upgrades, groups, attributes, events } = joining;
  const { expectedRev, fence, mark } = save;
  assertPlaces(upgrades);
  const joiners = joinersKey(keyPrefix, rollout.id, mark.write);
  for (let from = 0; from < upgrades.length; from += recordsPerChunk) {
    const chunk = upgrades.slice(from, from + recordsPerChunk);
    const entries = chunk.map((upgrade) => encodeJoiner(upgrade, mark.version));
    await runScript(commands, stageJoinersScript, { keys: { joiners }, args: { stagedForMs, entries } });
  }
  const { fence: fenceKey } = policyKeys(keyPrefix, parseRolloutId(rollout.id).policy);
  const answer = await runScript(commands, joinPlanScript, {
    keys: { ...rolloutKeys(keyPrefix, rollout.id), fence: fenceKey, joiners },
    args: {
      write: mark.write,
      fence,
      expectedRev,
      rev: rollout.rev,
      rollout: JSON.stringify(rollout),
      fields: plannedFields(rollout, groups, mark),
      groups: JSON.stringify(groups),
      attributes: await encodeAttributes(attributes),
      joining: upgrades.length,
      events: encodeEvents(events),
    },
  });
  if (answer === 'lost')
    throw new Error(`the staged joiners of rollout ${rollout.id} ran out before they were used`);
  await commands.del(joiners);
  return answer;
}

/** The text is read by `join-plan.lua` alone. */
function encodeJoiner(upgrade: Upgrade, version: number) {
  const joiner = {
    bucket: nameBucketOf(upgrade.identity.collectorName),
    record: encodeUpgrade(upgrade, version),
    order: String(orderScoreOf(upgrade)),
    index: indexOf(upgrade),
    counts: encodeCounts(countNew(upgrade)),
  };
  return { id: String(upgrade.identity.collectorId), text: JSON.stringify(joiner) };
}
