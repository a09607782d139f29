import fc from 'fast-check';
import type { FleetSnapshot } from '../../src/rollout/model/collector.ts';
import type { Policy } from '../../src/rollout/model/policy.ts';
import { type FrozenRollout, freezePlan } from '../../src/rollout/planning/freeze-plan.ts';
import { makePlan, type Plan } from '../../src/rollout/planning/plan.ts';
import { aFleet, startedAt, targetBuild } from './builders.ts';

/** The attributes of a collector that a plan uses; empty texts are absent values. */
export interface Kin {
  readonly osName: string;
  readonly cluster: string;
  readonly host: string;
}

/** A fleet of these collectors, with ids from 1. */
export function fleetOf(kin: readonly Kin[]): FleetSnapshot {
  return aFleet(kin.length, (id) => {
    const { osName = '', cluster = '', host: hostName = '' } = kin[id - 1] ?? {};
    return { osName, hostName, fields: cluster === '' ? {} : { cluster } };
  });
}

/** Fleets whose strata and domains overlap, some without a value. */
export const someKin: fc.Arbitrary<readonly Kin[]> = fc.array(
  fc.record({
    osName: fc.constantFrom('', 'Linux', 'Linux', 'Linux', 'Windows', 'Windows', 'Solaris', 'AIX'),
    cluster: fc.constantFrom('', '', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6'),
    host: fc.constantFrom('', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'h7', 'h8', 'h9'),
  }),
  { maxLength: 120 },
);

/** Ids of the members of each wave, in their order. */
export function idsByWave(plan: Pick<Plan, 'waves'>): number[][] {
  return plan.waves.map(({ members }) => members.map(({ collector }) => collector.id));
}

/** The rollout that a policy plans for this fleet, at its beginning. */
export function frozenFor(policy: Policy, fleet: FleetSnapshot, id = 'r-20260302-1'): FrozenRollout {
  const origin = { id, policy, startedBy: 'schedule', createdAt: startedAt + 5, fleet };
  return freezePlan(makePlan(policy, targetBuild, fleet, id), origin);
}
