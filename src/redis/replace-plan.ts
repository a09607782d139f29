import type { FrozenPlan, SaveResult } from '../orchestrator/ports/rollout-store.ts';
import type { RedisCommands } from './connection.ts';
import { replanScript } from './freeze-scripts.ts';
import { plannedFields } from './rollout-fields.ts';
import { recordKeyList, rolloutKeys } from './rollout-keys.ts';
import { runScript } from './script.ts';
import { stagePlan } from './stage-plan.ts';
import { countPlan } from './upgrade-counters.ts';
import { encodeCounts } from './upgrade-index.ts';

/** Writes a plan beside the one that waits for approval, then puts it in its place in one step. */
export async function replacePlan(
  redis: { readonly commands: RedisCommands; readonly keyPrefix: string },
  frozen: FrozenPlan,
  save: { readonly expectedRev: number; readonly write: string },
): Promise<SaveResult> {
  const { rollout, upgrades, groups, events } = frozen;
  const { expectedRev, write } = save;
  const keys = rolloutKeys(redis.keyPrefix, rollout.id);
  const staging = await stagePlan(redis, { rolloutId: rollout.id, upgrades, write });
  const call = {
    write,
    expectedRev,
    rev: rollout.rev,
    fields: plannedFields(rollout, groups, write),
    records: upgrades.length,
  };
  const answer = await runScript(redis.commands, replanScript, {
    keys: [keys.rollout, keys.events, keys.groups, ...staging, ...recordKeyList(keys)],
    args: [
      JSON.stringify(call),
      JSON.stringify(rollout),
      JSON.stringify(encodeCounts(countPlan(upgrades))),
      JSON.stringify(groups),
      ...events.map((event) => JSON.stringify(event)),
    ],
  });
  if (answer === 'lost')
    throw new Error(`the staged records of rollout ${rollout.id} ran out before they were used`);
  // Nothing of ours is left there, unless they were not needed.
  await redis.commands.del(...staging);
  return answer as SaveResult;
}
