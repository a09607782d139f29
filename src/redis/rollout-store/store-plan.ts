import type { DurationMs } from '../../base/time.ts';
import { makeTurnBudget, runInSlices } from '../../base/turn-budget.ts';
import type { FrozenPlan, SaveResult } from '../../orchestrator/ports/rollout-store.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { runScript } from '../connection/script.ts';
import { policyKeys, type RecordKeys, rolloutKeys } from '../schema/rollout-keys.ts';
import { encodeAttributes } from '../schema/stored-attributes.ts';
import { plannedFields, type WriteMark } from '../schema/stored-rollout.ts';
import { activatePlanScript, replacePlanScript } from './scripts.ts';
import { asStaged, stagePlan } from './stage-plan.ts';
import { countPlan } from './upgrade-counters.ts';
import { encodeCounts, encodeEvents } from './upgrade-index.ts';

// A number is asked for on its day only; the second day is for daemons whose clocks differ.
export const numberKeptMs: DurationMs = 2 * 86_400_000;

/**
 * Writes a plan beside the living keys, then makes it the policy's active rollout of its kind in one step, so that
 * nobody ever sees half a plan.
 * @returns `busy` when the policy has an active rollout of this kind, or this id is taken
 */
export async function storePlan(
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
  if (answer === 'busy') await commands.del(...Object.values(staging));
  if (answer === 'lost')
    throw new Error(`the staged records of rollout ${rollout.id} ran out before it began`);
  return answer;
}

async function activate(
  redis: { readonly commands: RedisCommands; readonly keyPrefix: string },
  plan: { readonly frozen: FrozenPlan; readonly staging: RecordKeys; readonly mark: WriteMark },
): Promise<'frozen' | 'busy' | 'lost'> {
  const { frozen, staging, mark } = plan;
  const { rollout } = frozen;
  const { policy, yyyymmdd, number } = parseRolloutId(rollout.id);
  const { active, rollouts, number: numberKey } = policyKeys(redis.keyPrefix, policy);
  return runScript(redis.commands, activatePlanScript, {
    keys: {
      ...rolloutKeys(redis.keyPrefix, rollout.id),
      ...asStaged(staging),
      active: active[rollout.kind],
      rollouts,
      number: numberKey(yyyymmdd),
    },
    args: {
      ...(await planArgs(frozen, mark)),
      id: rollout.id,
      number,
      numberKeptMs,
      createdAt: rollout.createdAt,
    },
  });
}

/** Writes a plan beside the one that waits for approval, then puts it in its place in one step. */
export async function replacePlan(
  redis: { readonly commands: RedisCommands; readonly keyPrefix: string },
  frozen: FrozenPlan,
  save: { readonly expectedRev: number; readonly mark: WriteMark },
): Promise<SaveResult> {
  const { rollout, upgrades } = frozen;
  const { expectedRev, mark } = save;
  const keys = rolloutKeys(redis.keyPrefix, rollout.id);
  const staging = await stagePlan(redis, { rolloutId: rollout.id, upgrades, mark });
  const answer = await runScript(redis.commands, replacePlanScript, {
    keys: { ...keys, ...asStaged(staging) },
    args: { ...(await planArgs(frozen, mark)), expectedRev, rev: rollout.rev },
  });
  if (answer === 'lost')
    throw new Error(`the staged records of rollout ${rollout.id} ran out before they were used`);
  // Nothing of ours is left there, unless they were not needed.
  await redis.commands.del(...Object.values(staging));
  return answer;
}

/** What both scripts put in place with the staged records. */
async function planArgs({ rollout, upgrades, groups, attributes, events }: FrozenPlan, mark: WriteMark) {
  return {
    write: mark.write,
    rollout: JSON.stringify(rollout),
    fields: plannedFields(rollout, groups, mark),
    groups: JSON.stringify(groups),
    attributes: await encodeAttributes(attributes),
    counts: encodeCounts(await runInSlices(countPlan(upgrades), makeTurnBudget())),
    planned: upgrades.length,
    events: encodeEvents(events),
  };
}
