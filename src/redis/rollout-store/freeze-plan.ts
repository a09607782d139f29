import type { DurationMs } from '../../base/time.ts';
import type { FrozenPlan, SaveResult } from '../../orchestrator/ports/rollout-store.ts';
import { runScript } from '../connection/commands.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { parseRolloutId, policyKeys, recordKeyList, rolloutKeys } from '../schema/rollout-keys.ts';
import { plannedFields, type WriteMark } from '../schema/stored-rollout.ts';
import { activateScript, replanScript } from './freeze-scripts.ts';
import { stagePlan } from './stage-plan.ts';
import { countPlan } from './upgrade-counters.ts';
import { encodeCounts } from './upgrade-index.ts';

// A number is asked for on its day only; the second day is for daemons whose clocks differ.
export const numberKeptMs: DurationMs = 2 * 86_400_000;

/**
 * Writes a plan beside the living keys, then makes it the policy's active rollout of its kind in one step, so that
 * nobody ever sees half a plan.
 * @returns `busy` when the policy has an active rollout of this kind, or this id is taken
 */
export async function freezePlan(
  redis: { readonly commands: RedisCommands; readonly keyPrefix: string },
  frozen: FrozenPlan,
  mark: WriteMark,
): Promise<'frozen' | 'busy'> {
  const { commands, keyPrefix } = redis;
  const { rollout, upgrades } = frozen;
  const active = policyKeys(keyPrefix, parseRolloutId(rollout.id).policy).active[rollout.kind];
  if ((await commands.exists(active)) === 1) return 'busy';
  const staging = await stagePlan(redis, { rolloutId: rollout.id, upgrades, mark });
  const answer = await activate(redis, { frozen, staging, mark });
  if (answer === 'busy') await commands.del(...staging);
  if (answer === 'lost')
    throw new Error(`the staged records of rollout ${rollout.id} ran out before it began`);
  return answer;
}

async function activate(
  redis: { readonly commands: RedisCommands; readonly keyPrefix: string },
  plan: { readonly frozen: FrozenPlan; readonly staging: readonly string[]; readonly mark: WriteMark },
): Promise<'frozen' | 'busy' | 'lost'> {
  const { frozen, staging, mark } = plan;
  const { rollout, upgrades, groups, events } = frozen;
  const { policy, yyyymmdd, number } = parseRolloutId(rollout.id);
  const ofPolicy = policyKeys(redis.keyPrefix, policy);
  const keys = rolloutKeys(redis.keyPrefix, rollout.id);
  const call = {
    id: rollout.id,
    write: mark.write,
    fields: plannedFields(rollout, groups, mark),
    records: upgrades.length,
    number,
    numberKeepMs: String(numberKeptMs),
    createdAt: String(rollout.createdAt),
  };
  const answer = await runScript(redis.commands, activateScript, {
    keys: [
      ofPolicy.active[rollout.kind],
      ofPolicy.rollouts,
      ofPolicy.number(yyyymmdd),
      keys.rollout,
      keys.events,
      keys.groups,
      ...staging,
      ...recordKeyList(keys),
    ],
    args: [
      JSON.stringify(call),
      JSON.stringify(rollout),
      JSON.stringify(encodeCounts(countPlan(upgrades))),
      JSON.stringify(groups),
      ...events.map((event) => JSON.stringify(event)),
    ],
  });
  return answer as 'frozen' | 'busy' | 'lost';
}

/** Writes a plan beside the one that waits for approval, then puts it in its place in one step. */
export async function replacePlan(
  redis: { readonly commands: RedisCommands; readonly keyPrefix: string },
  frozen: FrozenPlan,
  save: { readonly expectedRev: number; readonly mark: WriteMark },
): Promise<SaveResult> {
  const { rollout, upgrades, groups, events } = frozen;
  const { expectedRev, mark } = save;
  const keys = rolloutKeys(redis.keyPrefix, rollout.id);
  const staging = await stagePlan(redis, { rolloutId: rollout.id, upgrades, mark });
  const call = {
    write: mark.write,
    expectedRev,
    rev: rollout.rev,
    fields: plannedFields(rollout, groups, mark),
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
