import type { EpochMs } from '../../base/time.ts';
import type { FleetSnapshot } from '../../rollout/model/collector.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { type FrozenRollout, freezePlan } from '../../rollout/planning/freeze-plan.ts';
import { makePlan } from '../../rollout/planning/plan.ts';

/** The plan of a past rollout, or of the day's one, with the seed as its number. */
export function freezeFirst({
  policy,
  targetBuild,
  snapshot,
  seed,
  beganAt,
  rolloutId,
}: {
  readonly policy: Policy;
  readonly targetBuild: string;
  readonly snapshot: FleetSnapshot;
  readonly seed: number;
  readonly beganAt: EpochMs;
  readonly rolloutId?: string;
}): FrozenRollout {
  const id =
    rolloutId ?? `${policy.name}-${new Date(beganAt).toISOString().slice(0, 10).replaceAll('-', '')}-${seed}`;
  const plan = makePlan(policy, targetBuild, snapshot, id);
  return freezePlan(plan, { id, policy, startedBy: 'rehearsal', createdAt: beganAt, fleet: snapshot });
}
