import { leftOutWords, showLeftOut } from '../../rollout/messages/exclusions.ts';
import { countLeftOut } from '../../rollout/model/left-out.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import type { Plan } from '../../rollout/planning/plan.ts';
import type { PlanFigures } from './plan-figures.ts';

/** A plan for programs. */
export function planJson(policy: Policy, plan: Plan, figures: PlanFigures, withMembers: boolean): unknown {
  const { waves, ...others } = figures;
  return {
    policy: policy.name,
    targetBuild: plan.targetBuild,
    hash: plan.hash,
    approval: policy.approval,
    minimumAgeMs: policy.target.minimumAgeMs,
    ...others,
    waves: waves.map((wave, index) => ({ ...wave, ...(withMembers && { members: membersOf(plan, index) }) })),
    leftOut: showLeftOut(countLeftOut(plan.leftOut.map(({ kind }) => kind))),
    ...(withMembers && { leftOutCollectors: leftOutCollectors(plan) }),
  };
}

function membersOf({ waves, groups }: Plan, index: number): unknown {
  return waves[index]?.members.map(({ collector: { id, name, build }, order, stratum }) => ({
    id,
    name,
    build,
    order,
    stratum: groups.strata[stratum]?.label ?? '',
  }));
}

function leftOutCollectors({ leftOut }: Plan): unknown {
  return leftOut.map(({ collector: { id, name }, kind }) => ({ id, name, kind, reason: leftOutWords[kind] }));
}
