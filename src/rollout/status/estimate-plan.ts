import { sumOf } from '../../base/grouping.ts';
import type { EpochMs } from '../../base/time.ts';
import type { Policy } from '../model/policy.ts';
import { longestChain } from '../planning/arrange-plan.ts';
import type { Plan } from '../planning/plan.ts';
import { type Estimate, estimateRemainder, limitsOfWaves } from './estimate.ts';

/** Estimates a plan that starts now, as if nothing waited for an approval. */
export function estimatePlan(
  policy: Policy,
  plan: Pick<Plan, 'waves' | 'groups' | 'leftOut'>,
  { now, requestsPerSecond }: { readonly now: EpochMs; readonly requestsPerSecond: number },
): Estimate {
  const starts = plan.waves.map(({ members }) => members.length);
  const limits = limitsOfWaves(
    policy,
    policy.waves.map((rule, index) => ({ rule, succeeded: 0, starts: starts[index] ?? 0 })),
  );
  const remainders = plan.waves.map(({ members }, index) => ({
    ...limits[index],
    upgrades: members.length,
    mayStart: true,
    soakMs: members.length === 0 ? 0 : (policy.waves[index]?.soakMs ?? 0),
    chain: longestChain(members, plan.groups.domains),
  }));
  const fleetSize = sumOf(starts, (count) => count) + plan.leftOut.length;
  return estimateRemainder(remainders, policy, { from: now, requestsPerSecond, fleetSize });
}
