import { eachInSteps, mapInSteps, type Steps } from '../../base/steps.ts';
import { needsCollectorZone } from '../calendar/calendar.ts';
import { hasAttributes } from '../model/attributes.ts';
import type { FleetCollector } from '../model/collector.ts';
import type { CapDomain, PlanGroups, RiskyGroup } from '../model/plan-groups.ts';
import type { Policy } from '../model/policy.ts';
import type { UpgradeIdentity } from '../model/upgrade.ts';
import { domainSizes, orderWave } from './domain-order.ts';
import { groupCollectors, makeLaneIndex } from './group-collectors.ts';
import type { FailedGroup } from './stratum-risk.ts';
import { takeSeats } from './take-seats.ts';

export interface PlannedWave {
  readonly name: string;
  /** In start order; a member that has to wait lets later ones start first. */
  readonly members: readonly PlannedMember[];
}

/** A collector with its groups, and its position (from 1) in the start order of the whole plan. */
export interface PlannedMember extends Pick<UpgradeIdentity, 'order' | 'lane' | 'stratum' | 'domains'> {
  readonly collector: FleetCollector;
}

export interface ArrangedPlan {
  readonly waves: readonly PlannedWave[];
  readonly groups: PlanGroups;
}

/** What ended rollouts tell of the collectors of a plan. */
export interface PlanRisks {
  readonly riskOf: (label: string) => number;
  /** The share of a stratum that is expected to fail. */
  readonly expectedShareOf: (label: string) => number;
  readonly groups: readonly FailedGroup[];
}

/**
 * Assigns each collector its wave, its position and its groups. The result does not depend on the order of the input.
 * @param seed the rollout's id
 * @param risks the first waves try the riskiest strata first where they have no seat for each, and one of each risky group
 */
export function* arrangePlan(
  collectors: readonly FleetCollector[],
  policy: Policy,
  seed: string,
  risks?: PlanRisks,
): Steps<ArrangedPlan> {
  const grouping = yield* groupCollectors(collectors, policy, seed, risks?.riskOf);
  const seated = yield* takeSeats(
    grouping,
    policy.waves,
    risks?.groups.map(({ attributes }) => attributes),
  );
  const sizes = grouping.strata.map(() => policy.waves.map(() => 0));
  const laneIndex = makeLaneIndex(needsCollectorZone(policy));
  let order = 0;
  const waves: PlannedWave[] = [];
  for (const [wave, { name }] of policy.waves.entries()) {
    const ordered = yield* orderWave(seated[wave] ?? [], grouping.domains);
    const members = yield* mapInSteps(ordered, ({ collector, stratum, domains }): PlannedMember => {
      const inWaves = sizes[stratum];
      if (inWaves !== undefined) inWaves[wave] = (inWaves[wave] ?? 0) + 1;
      order += 1;
      return { collector, order, lane: laneIndex.laneOf(collector, stratum, domains), stratum, domains };
    });
    waves.push({ name, members });
  }
  const strata = grouping.strata.map((label, index) => ({ label, sizes: sizes[index] ?? [] }));
  const groups = { strata, lanes: laneIndex.lanes, domains: grouping.domains };
  if (risks === undefined || risks.groups.length === 0) return { waves, groups };
  return { waves, groups: { ...groups, risks: yield* risksIn(waves, grouping.strata, risks) } };
}

/** The risky groups that have members in the plan. What is expected of a collector is the worst of its stratum and groups. */
function* risksIn(
  waves: readonly PlannedWave[],
  strata: readonly string[],
  { groups, expectedShareOf }: PlanRisks,
): Steps<readonly RiskyGroup[]> {
  const ofStrata = strata.map(expectedShareOf);
  const found = groups.map((group) => ({ group, sizes: waves.map(() => 0), more: waves.map(() => 0) }));
  for (const [wave, { members }] of waves.entries())
    yield* eachInSteps(members, ({ collector, stratum }) => {
      let expected = ofStrata[stratum] ?? 0;
      for (const { group, sizes, more } of found) {
        if (!hasAttributes(collector, group.attributes)) continue;
        sizes[wave] = (sizes[wave] ?? 0) + 1;
        more[wave] = (more[wave] ?? 0) + Math.max(0, group.expectedShare - expected);
        expected = Math.max(expected, group.expectedShare);
      }
    });
  return found
    .filter(({ sizes }) => sizes.some((size) => size > 0))
    .map(({ group: { label, tried, failed }, sizes, more }) => ({ label, tried, failed, sizes, more }));
}

/** How many members must upgrade one after the other because of the tightest cap: 1 without a cap, 0 without members. */
export function longestChain(
  members: readonly Pick<PlannedMember, 'domains'>[],
  domains: readonly CapDomain[],
): number {
  const sizes = domainSizes(members, domains);
  const chains = domains.map(({ cap }, domain) => Math.ceil((sizes[domain] ?? 0) / cap));
  return chains.reduce((longest, chain) => Math.max(longest, chain), Math.min(1, members.length));
}
