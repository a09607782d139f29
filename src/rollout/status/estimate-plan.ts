import { sumOf } from '../../base/grouping.ts';
import type { EpochMs } from '../../base/time.ts';
import type { WorkEstimate } from '../../contract/admin/status-parts.ts';
import type { RollbackPreview } from '../../contract/admin/verbs.ts';
import type { Policy } from '../model/policy.ts';
import type { RolloutView } from '../model/rollout.ts';
import { longestChain } from '../planning/arrange-plan.ts';
import type { Plan } from '../planning/plan.ts';
import { type Estimate, estimateRemainder, type LearnedDurations, limitsOfWaves } from './estimate.ts';
import { learnedOf } from './learned-durations.ts';

interface EstimateFrom {
  readonly now: EpochMs;
  readonly requestsPerSecond: number;
}

/** Estimates a plan that starts now, as if nothing waited for an approval. */
export function estimatePlan(
  policy: Policy,
  plan: Pick<Plan, 'waves' | 'groups' | 'leftOut'>,
  from: EstimateFrom,
): Estimate {
  const waves = plan.waves.map(({ members }) => ({
    size: members.length,
    chain: longestChain(members, plan.groups.domains),
  }));
  const fleetSize = sumOf(waves, ({ size }) => size) + plan.leftOut.length;
  return estimateWaves(policy, waves, { ...from, fleetSize });
}

/**
 * Estimates a rollback, also as one that ignores windows, freezes and pace. Its upgrades take as long as those of the
 * rollout that it takes back.
 * @param rollback.chain how many of all collectors have to wait for each other
 */
export function estimateRollback(
  view: RolloutView,
  rollback: {
    readonly policy: Policy;
    /** null: not known before it is planned. */
    readonly sizes: ReadonlyArray<number | null>;
    readonly collectors: number;
    readonly chain: number;
  },
  { now, requestsPerSecond }: EstimateFrom,
): Pick<RollbackPreview, 'estimate' | 'estimateNow'> {
  const { policy, sizes, collectors, chain } = rollback;
  // A canary of unknown size takes no time of its own, only its soak.
  const last = sizes.length - 1;
  const waves = sizes.map((size, wave) => {
    const members = size ?? (wave === last ? collectors : Math.min(1, collectors));
    return { size: members, chain: Math.ceil((chain * members) / Math.max(1, collectors)) };
  });
  const given = {
    ...{ now, requestsPerSecond },
    ...{ fleetSize: view.rollout.plan.fleetSize, learned: learnedOf(view, now) },
  };
  const durationOf = (of: Policy): WorkEstimate => {
    const { endsAt, plusMinusMs, requests } = estimateWaves(of, waves, given);
    return { durationMs: endsAt === null ? null : endsAt - now, plusMinusMs, requests };
  };
  const { pace: _pace, ...limits } = policy;
  return { estimate: durationOf(policy), estimateNow: durationOf({ ...limits, windows: [], freezes: [] }) };
}

function estimateWaves(
  policy: Policy,
  waves: ReadonlyArray<{ readonly size: number; readonly chain: number }>,
  { now, ...span }: EstimateFrom & { readonly fleetSize: number; readonly learned?: LearnedDurations },
): Estimate {
  const limits = limitsOfWaves(
    policy,
    policy.waves.map((rule, index) => ({ rule, succeeded: 0, starts: waves[index]?.size ?? 0 })),
  );
  const remainders = waves.map(({ size, chain }, index) => ({
    ...limits[index],
    ...{ upgrades: size, mayStart: true, chain },
    soakMs: size === 0 ? 0 : (policy.waves[index]?.soakMs ?? 0),
  }));
  return estimateRemainder(remainders, policy, { from: now, ...span });
}
