import type { DurationMs } from '../../base/time.ts';
import { makeTurnBudget, runInSlices } from '../../base/turn-budget.ts';
import type { FrozenPlan, SaveResult } from '../../orchestrator/ports/rollout-store.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';
import { runScript } from '../connection/script.ts';
import { encodeAttributes } from '../schema/stored-attributes.ts';
import { encodeRollout, plannedFields, type WriteMark } from '../schema/stored-rollout.ts';
import { activatePlanScript, replacePlanScript } from './scripts.ts';
import { asStaged, stagePlan } from './stage-plan.ts';
import type { StoreContext } from './store-context.ts';
import { countPlan } from './upgrade-counters.ts';
import { encodeCounts, encodeEvents } from './upgrade-index.ts';

// A number is used on its day only. The second day is for daemons whose clocks differ.
export const numberKeptMs: DurationMs = 2 * 86_400_000;

/**
 * Stages a plan, then makes it the policy's active rollout of its kind in one step, so that no reader ever sees half a plan.
 * @returns `busy` when the policy has an active rollout of this kind, or the id is used
 */
export async function storePlan(
  store: StoreContext,
  frozen: FrozenPlan,
  mark: WriteMark,
): Promise<'frozen' | 'busy'> {
  const { commands } = store;
  const { rollout } = frozen;
  const { policy, yyyymmdd, number } = parseRolloutId(rollout.id);
  const ofPolicy = store.ofPolicy(policy);
  const active = ofPolicy.active[rollout.kind];
  if ((await commands.exists(active)) === 1) return 'busy';
  const staging = await stagePlan(store, frozen, mark);
  const answer = await runScript(commands, activatePlanScript, {
    keys: {
      ...store.ofRollout(rollout.id).keys,
      ...asStaged(staging),
      active,
      rollouts: ofPolicy.rollouts,
      number: ofPolicy.number(yyyymmdd),
    },
    args: {
      ...(await stagedPlanArgs(frozen, mark)),
      id: rollout.id,
      number,
      numberKeptMs,
      createdAt: rollout.createdAt,
    },
  });
  if (answer === 'busy') await commands.del(...Object.values(staging));
  if (answer === 'lost')
    throw new Error(`the staged records of rollout ${rollout.id} expired before it was activated`);
  return answer;
}

/** Stages a plan, then replaces the one that waits for approval in one step. */
export async function replacePlan(
  store: StoreContext,
  frozen: FrozenPlan,
  { expectedRev, mark }: { readonly expectedRev: number; readonly mark: WriteMark },
): Promise<SaveResult> {
  const { rollout } = frozen;
  const { keys } = store.ofRollout(rollout.id);
  const staging = await stagePlan(store, frozen, mark);
  const answer = await runScript(store.commands, replacePlanScript, {
    keys: { ...keys, ...asStaged(staging) },
    args: { ...(await stagedPlanArgs(frozen, mark)), expectedRev, rev: rollout.rev },
  });
  if (answer === 'lost')
    throw new Error(`the staged records of rollout ${rollout.id} expired before they were used`);
  // Only records that were not needed are still there.
  await store.commands.del(...Object.values(staging));
  return answer;
}

/** Arguments that both scripts install with the staged records. */
async function stagedPlanArgs(frozen: FrozenPlan, mark: WriteMark) {
  const { upgrades } = frozen;
  return {
    ...(await planArgs(frozen, mark)),
    counts: encodeCounts(await runInSlices(countPlan(upgrades), makeTurnBudget())),
    planned: upgrades.length,
  };
}

/** Arguments of a plan and of late joiners, beside their records. */
export async function planArgs({ rollout, groups, attributes, events }: FrozenPlan, mark: WriteMark) {
  return {
    write: mark.write,
    rollout: encodeRollout(rollout),
    fields: plannedFields(rollout, groups, mark),
    groups: JSON.stringify(groups),
    attributes: await encodeAttributes(attributes),
    events: encodeEvents(events),
  };
}
