import type { Fence } from '../../orchestrator/ports/leader.ts';
import type { FrozenPlan, SaveResult } from '../../orchestrator/ports/rollout-store.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import { runScript } from '../connection/script.ts';
import { joinersKey } from '../schema/rollout-keys.ts';
import type { WriteMark } from '../schema/stored-rollout.ts';
import { joinPlanScript, stageJoinersScript } from './scripts.ts';
import { chunksOf, encodeStaged, stagedForMs } from './stage-plan.ts';
import type { StoreContext } from './store-context.ts';
import { planArgs } from './store-plan.ts';
import { countNew } from './upgrade-counters.ts';
import { encodeCounts } from './upgrade-index.ts';

/** Adds late joiners to a rollout: staged in chunks, then added in one step. */
export async function joinPlan(
  { commands, keyPrefix, ofPolicy, ofRollout }: StoreContext,
  joining: FrozenPlan,
  save: { readonly expectedRev: number; readonly fence: Fence | null; readonly mark: WriteMark },
): Promise<SaveResult> {
  const { rollout, upgrades } = joining;
  const { expectedRev, fence, mark } = save;
  const joiners = joinersKey(keyPrefix, rollout.id, mark.write);
  for (const chunk of chunksOf(upgrades)) {
    const entries = chunk.map((upgrade) => encodeJoiner(upgrade, mark.version));
    await runScript(commands, stageJoinersScript, { keys: { joiners }, args: { stagedForMs, entries } });
  }
  const { fence: fenceKey } = ofPolicy(parseRolloutId(rollout.id).policy);
  const answer = await runScript(commands, joinPlanScript, {
    keys: { ...ofRollout(rollout.id).keys, fence: fenceKey, joiners },
    args: {
      ...(await planArgs(joining, mark)),
      fence,
      expectedRev,
      rev: rollout.rev,
      joining: upgrades.length,
    },
  });
  if (answer === 'lost')
    throw new Error(`the staged joiners of rollout ${rollout.id} expired before they were used`);
  await commands.del(joiners);
  return answer;
}

/** Only `join-plan.lua` reads the text. */
function encodeJoiner(upgrade: Upgrade, version: number) {
  const { id, ...joiner } = encodeStaged(upgrade, version);
  return { id, text: JSON.stringify({ ...joiner, counts: encodeCounts(countNew(upgrade)) }) };
}
