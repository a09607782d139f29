import { isSameBuild } from '../../base/build-version.ts';
import { countEach } from '../../base/grouping.ts';
import { hashHex } from '../../base/hash.ts';
import { eachInSteps, mapInSteps, type Steps } from '../../base/steps.ts';
import { tabulateAttributes } from '../model/attributes.ts';
import type { FleetCollector } from '../model/collector.ts';
import type { LeftBehind } from '../model/left-behind.ts';
import { countLeftOut, type LeftOutKind } from '../model/left-out.ts';
import type { Policy, WaveRule } from '../model/policy.ts';
import type { Rollout } from '../model/rollout.ts';
import type { Upgrade } from '../model/upgrade.ts';
import { type ArrangedPlan, arrangePlan, type PlannedWave } from './arrange-plan.ts';
import { type FrozenRollout, pendingUpgrade } from './freeze-plan.ts';
import { backToMax, countBuilds, newRollout, plainWave, type RolloutOrigin } from './new-rollout.ts';

/**
 * Makes the rollback of a rollout: a canary, then the rest, within the limits of the original (DESIGN §4, Rollback).
 * Each collector returns to the build it had before, which its own record names. The rollback's `targetBuild` is the
 * most frequent of these builds and only for display. Collectors that left the fleet or already run their build are left
 * out.
 * @param parted the upgrades to roll back, and the collectors that cannot be rolled back
 * @param collectors the current inventory, by id
 */
export function* freezeRollback(
  original: Rollout,
  { toRollBack, left }: { readonly toRollBack: readonly Upgrade[]; readonly left: readonly LeftBehind[] },
  collectors: ReadonlyMap<number, FleetCollector>,
  origin: RolloutOrigin,
): Steps<FrozenRollout> {
  const { id } = origin;
  const toBuilds = new Map<number, string>();
  const chosen: FleetCollector[] = [];
  const leftOut: LeftOutKind[] = [];
  yield* eachInSteps(toRollBack, ({ identity: { collectorId, fromBuild } }) => {
    const collector = collectors.get(collectorId);
    if (collector === undefined) leftOut.push('leftFleet');
    else if (isSameBuild(collector.build, fromBuild)) leftOut.push('atTarget');
    else {
      toBuilds.set(collectorId, fromBuild);
      chosen.push(collector);
    }
  });
  const { policy, waves, groups } = yield* arrangeRollback(chosen, toBuilds, { policy: original.policy, id });
  const plan = waves.flatMap(({ members }, wave) =>
    members.map((member) => ({ member, wave, toBuild: toBuilds.get(member.collector.id) ?? '' })),
  );
  const backTo = countBuilds([...toBuilds.values()])
    .slice(0, backToMax)
    .map(({ build }) => build);
  const [targetBuild] = backTo;
  const { leftOut: unweighedFields, ...attributes } = yield* tabulateAttributes(chosen);
  const rollout = newRollout(origin, policy, {
    kind: 'rollback',
    plan: {
      hash: hashHex(JSON.stringify(plan.map(({ member, toBuild }) => [member.collector.id, toBuild])), 8),
      targetBuild: targetBuild ?? original.plan.targetBuild,
      fromBuilds: [original.plan.targetBuild],
      fromCounts: [],
      leftOut: countLeftOut(leftOut),
      unweighedFields,
    },
    state: 'running',
    reason: { kind: 'rollsBack', rollout: original.id },
    rollback: {
      original: original.id,
      startedAs: null,
      backTo,
      leftBehind: left,
      anyTime: original.rollback.anyTime,
    },
    planned: waves,
    groups,
  });
  const records = yield* mapInSteps(plan, ({ member, ...to }) =>
    pendingUpgrade(member, to, { rolloutId: id, fleet: null }),
  );
  return { rollout, upgrades: records, groups, attributes };
}

/**
 * Groups collectors by the build they return to. All of them run the same build now, and each old build may fail in its
 * own way.
 */
function* arrangeRollback(
  chosen: readonly FleetCollector[],
  toBuilds: ReadonlyMap<number, string>,
  rollback: { readonly policy: Policy; readonly id: string },
): Steps<{ readonly policy: Policy } & ArrangedPlan> {
  const now = new Map(chosen.map((collector) => [collector.id, collector]));
  const asBefore = yield* mapInSteps(chosen, (collector) => ({
    ...collector,
    build: toBuilds.get(collector.id) ?? collector.build,
  }));
  const policy = rollbackPolicy(rollback.policy);
  const { waves, groups } = withSmallCanary(yield* arrangePlan(asBefore, policy, rollback.id));
  const present: PlannedWave[] = [];
  for (const { name, members } of waves) {
    const asNow = yield* mapInSteps(members, (member) => ({
      ...member,
      collector: now.get(member.collector.id) ?? member.collector,
    }));
    present.push({ name, members: asNow });
  }
  return { policy, waves: present, groups };
}

/** At most half of the collectors: a canary of all would try nothing out. */
export function rollbackCanaryMax(collectors: number): number {
  return Math.max(1, Math.floor(collectors / 2));
}

/**
 * Moves the last members of a canary that is too large to the rest. The first wave of a policy is sized for its fleet, and
 * few collectors may have been upgraded when a rollback begins.
 */
function withSmallCanary(plan: ArrangedPlan): ArrangedPlan {
  const [canary, rest] = plan.waves;
  if (canary === undefined || rest === undefined) return plan;
  const max = rollbackCanaryMax(canary.members.length + rest.members.length);
  const moved = canary.members.slice(max);
  const movedOf = countEach(moved.map(({ stratum }) => stratum));
  const strata = plan.groups.strata.map(({ label, sizes: [first = 0, second = 0] }, stratum) => {
    const count = movedOf.get(stratum) ?? 0;
    return { label, sizes: [first - count, second + count] };
  });
  return {
    waves: [
      { ...canary, members: canary.members.slice(0, max) },
      { ...rest, members: [...moved, ...rest.members] },
    ],
    groups: { ...plan.groups, strata },
  };
}

/**
 * The policy of a rollback: a canary by the rule of the policy's first wave, then the rest, within the policy's
 * concurrency, caps, windows and freezes. Its waves need no approval, because an operator or a breach asked for the
 * rollback. They have no gates either: a gate measures the harm of the bad build and would hold the rollback that ends
 * it. A breach holds the rollback.
 */
export function rollbackPolicy(policy: Policy): Policy {
  const { pace, ...limits } = policy;
  const first = policy.waves[0];
  const canary: WaveRule = {
    ...plainWave('canary'),
    size: { kind: 'perStratum', count: 1 },
    // A policy's only wave takes all collectors, so it is no canary rule.
    ...(policy.waves.length > 1 ? withoutPlace(first) : { soakMs: first?.soakMs ?? 0 }),
    ...{ approval: false, gates: [], name: 'canary' },
  };
  const last = policy.waves.at(-1);
  const rest = { ...plainWave('rest'), ...(last !== undefined && { maxFailures: last.maxFailures }) };
  return {
    ...limits,
    // What the pace spares is spared by a rollback, too, but it is not tried out slowly.
    ...(pace !== undefined && { pace: { ...pace, from: pace.perHour } }),
    ...{ waves: [canary, rest], approval: false, onBreach: 'hold' },
  };
}

/** A rule without what belongs to its place in the policy: a rollback has the windows and the pace of the policy. */
function withoutPlace(rule: WaveRule | undefined): Partial<WaveRule> {
  const { pace: _pace, windows: _windows, notBefore: _notBefore, ...rest } = rule ?? {};
  return rest;
}
