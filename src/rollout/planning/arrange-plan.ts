import { mapInSteps, type Steps } from '../../base/steps.ts';
import { needsCollectorZone } from '../calendar/calendar.ts';
import { hasAttributes } from '../model/attributes.ts';
import type { FleetCollector } from '../model/collector.ts';
import type { CapDomain, PlanGroups, RiskyGroup } from '../model/plan-groups.ts';
import type { Policy } from '../model/policy.ts';
import type { UpgradeIdentity } from '../model/upgrade.ts';
import { domainSizes, orderWave } from './domain-order.ts';
import { groupCollectors, makeLaneIndex } from './group-collectors.ts';
import type { riskyGroups } from './stratum-risk.ts';
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
  readonly riskOf?: (label: string) => number;
  readonly groups?: ReturnType<typeof riskyGroups>;
}

/**
 * Assigns each collector its wave, its position and its groups. The result does not depend on the order of the input.
 * @param seed the rollout's id
 * @param risks `riskOf`: the risk of a stratum: the first waves try the riskiest first where they have no seat for each.
 *   `groups`: of which the first waves try one each
 */
export function* arrangePlan(
  collectors: readonly FleetCollector[],
  policy: Policy,
  seed: string,
  { riskOf, groups: risky = [] }: PlanRisks = {},
): Steps<ArrangedPlan> {
  const grouping = yield* groupCollectors(collectors, policy, seed, riskOf);
  const seated = yield* takeSeats(
    grouping,
    policy.waves,
    risky.map(({ attributes }) => attributes),
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
  const risks = risksIn(waves, risky);
  const groups = { strata, lanes: laneIndex.lanes, domains: grouping.domains };
  return { waves, groups: risks.length === 0 ? groups : { ...groups, risks } };
}

/** The risky groups that have members in the plan, with the first wave that tries them. */
function risksIn(
  waves: readonly PlannedWave[],
  risky: NonNullable<PlanRisks['groups']>,
): readonly RiskyGroup[] {
  return risky.flatMap(({ label, attributes, tried, failed }) => {
    const firstWave = waves.findIndex(({ members }) =>
      members.some(({ collector }) => hasAttributes(collector, attributes)),
    );
    if (firstWave < 0) return [];
    return [{ label, tried, failed, firstWave: firstWave === waves.length - 1 ? null : firstWave }];
  });
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
