import type { FleetSnapshot } from './collector.ts';
import { frequentBuilds, fromBuildsMax } from './frequent-builds.ts';
import { newRollout, type RolloutOrigin } from './new-rollout.ts';
import { pendingUpgrade } from './pending-upgrade.ts';
import { type LeftOut, leftOutReasons, type Plan } from './plan.ts';
import type { PlanGroups } from './plan-groups.ts';
import type { Policy } from './policy.ts';
import type { Rollout } from './rollout.ts';
import type { Upgrade } from './upgrade.ts';

/** A rollout at its beginning, with one record for each planned collector. */
export interface FrozenRollout {
  readonly rollout: Rollout;
  readonly upgrades: readonly Upgrade[];
  readonly groups: PlanGroups;
}

/** Turns a plan into a rollout: from here on only late joiners are added (P5). */
export function freezePlan(
  plan: Plan,
  origin: RolloutOrigin & { readonly policy: Policy; readonly fleet: Pick<FleetSnapshot, 'offeredAt'> },
): FrozenRollout {
  const { policy, fleet } = origin;
  const builds = plan.waves.flatMap(({ members }) => members.map(({ collector }) => collector.build));
  const rollout = newRollout(origin, policy, {
    kind: 'upgrade',
    rollbackOf: null,
    backTo: [],
    leftBehind: [],
    targetBuild: plan.targetBuild,
    fromBuilds: frequentBuilds(builds, fromBuildsMax),
    planHash: plan.hash,
    state: policy.approval ? 'awaitingApproval' : 'running',
    reason: policy.approval ? 'waits for approval' : `by ${origin.startedBy}`,
    leftOut: countLeftOut(plan.leftOut),
    planned: plan.waves,
    groups: plan.groups,
  });
  const upgrades = plan.waves.flatMap((planned, wave) =>
    planned.members.map((member) =>
      pendingUpgrade(member, { wave, toBuild: plan.targetBuild }, { rolloutId: origin.id, fleet }),
    ),
  );
  return { rollout, upgrades, groups: plan.groups };
}

/** How many collectors are left out, by reason in words. */
export function countLeftOut(leftOut: readonly LeftOut[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reason } of leftOut) {
    const words = leftOutReasons[reason];
    counts[words] = (counts[words] ?? 0) + 1;
  }
  return counts;
}
