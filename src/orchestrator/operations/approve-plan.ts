import { namesShown } from '../../base/names.ts';
import type { DurationMs } from '../../base/time.ts';
import { makeTurnBudget, runInSlices } from '../../base/turn-budget.ts';
import { driftText } from '../../rollout/messages/plans.ts';
import type { PlanGroups } from '../../rollout/model/plan-groups.ts';
import { indexOfStratum } from '../../rollout/model/plan-groups.ts';
import type { HeldStratum, PlanDrift, Rollout } from '../../rollout/model/rollout.ts';
import { freezeInSteps } from '../../rollout/planning/freeze-plan.ts';
import type { Plan } from '../../rollout/planning/plan.ts';
import { describeFailure } from '../../rollout/upgrade/failure-classes.ts';
import type { Refusal } from '../../rollout/verbs/refusal.ts';
import type { BuildHistory } from '../ports/build-history.ts';
import type { FleetService } from '../ports/fleet-service.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import type { ChangeRolloutParts } from '../records/change-rollout.ts';
import type { PolicyClaims } from '../records/policy-claims.ts';
import { listAllUpgrades } from '../records/read-records.ts';
import { makePlanMemory, readPlan } from '../scan/read-plan.ts';
import { judgeInventory } from '../watch/judge-inventory.ts';

export interface ApprovePlanParts extends ChangeRolloutParts {
  readonly fleet: FleetService;
  readonly claims: PolicyClaims;
  readonly buildHistory: Pick<BuildHistory, 'read'>;
}

// In a large fleet, collectors always come and go. A plan that was just made again, and shown with its drift, is approved
// unchanged for this long. Otherwise no plan could ever be approved.
const shownForMs: DurationMs = 10 * 60_000;

/**
 * Whether a waiting plan may be approved now. The fleet is read again. When it has changed, the plan is made again with its
 * drift, and waits again (P14).
 * @returns the refusal; undefined when the plan may be approved
 */
export async function refuseApproval(
  parts: ApprovePlanParts,
  rollout: Rollout,
  signal?: AbortSignal,
): Promise<Refusal | undefined> {
  const now = parts.clock.now();
  if (rollout.plan.drift !== null && now - rollout.plan.fleetReadAt <= shownForMs) return undefined;
  const { policy } = rollout;
  const memory = makePlanMemory(parts, {
    policy,
    history: await earlierRollouts(parts.store, rollout),
    at: now,
  });
  const reading = await readPlan(parts, policy, rollout.id, memory, signal);
  if (!reading.ok) return { kind: 'fleetUnread', reason: describeFailure(reading.failure) };
  if (reading.value.kind === 'noTarget') return { kind: 'noTarget', why: reading.value.why };
  const { plan, fleet, stillRunning } = reading.value;
  if (stillRunning !== undefined) return { kind: 'stillRunning', ...stillRunning };
  const verdict = await judgeInventory(parts, rollout, fleet);
  if (verdict.kind === 'implausible') return { kind: 'inventory', why: verdict.why };
  if (plan.hash === rollout.plan.hash) return undefined;
  const drift = await compare(parts.store, rollout, plan);
  const { createdAt, startedBy, id, accountMarks, config } = rollout;
  const origin = { id, policy, startedBy, createdAt, fleet, accountMarks, generation: config.generation };
  const frozen = await runInSlices(freezeInSteps(plan, origin), makeTurnBudget(parts.clock));
  const { plan: renewedPlan, strata } = frozen.rollout;
  const renewed: Rollout = {
    ...frozen.rollout,
    plan: { ...renewedPlan, drift },
    strata: { ...strata, held: heldIn(rollout, frozen.groups) },
    rev: rollout.rev + 1,
  };
  const event = {
    at: now,
    event: 'rollout.drifted',
    policy: policy.name,
    rollout: id,
    reason: driftText(drift),
    by: 'daemon',
  } as const;
  const saved = await parts.store.replan({ ...frozen, rollout: renewed, events: [event] }, rollout.rev);
  if (saved !== 'saved') return { kind: 'changedMeanwhile' };
  parts.sink.report(event);
  return { kind: 'planMoved', from: rollout.plan.hash, to: plan.hash, drift };
}

/** Strata that an operator held in the previous plan stay held. Their labels identify them. */
function heldIn(rollout: Rollout, { strata }: PlanGroups): readonly HeldStratum[] {
  // A stratum without members may have some in the next plan.
  return rollout.strata.held.map((held) => ({
    ...held,
    ...(held.attributes === undefined ? {} : { unmoved: true as const }),
    stratum: indexOfStratum(strata, held.label),
  }));
}

/** A rollout that an operator started retries earlier failures. A scheduled one leaves them out. */
async function earlierRollouts(store: RolloutStore, rollout: Rollout): Promise<readonly Rollout[]> {
  if (rollout.startedBy === 'operator') return [];
  const all = await store.listRollouts([rollout.policy.name]);
  return all.filter(({ id }) => id !== rollout.id);
}

async function compare(store: RolloutStore, rollout: Rollout, plan: Plan): Promise<PlanDrift> {
  const before = new Map(
    (await listAllUpgrades(store, rollout.id, { state: 'pending' })).map((upgrade) => [
      upgrade.identity.collectorId,
      upgrade.identity.collectorName,
    ]),
  );
  const after = new Map(
    plan.waves.flatMap(({ members }) =>
      members.map(({ collector }) => [collector.id, collector.name] as const),
    ),
  );
  const joined = [...after].flatMap(([id, name]) => (before.has(id) ? [] : [name]));
  const left = [...before].flatMap(([id, name]) => (after.has(id) ? [] : [name]));
  const [someJoined, someLeft] = [joined.slice(0, namesShown), left.slice(0, namesShown)];
  const target = plan.targetBuild === rollout.plan.targetBuild ? null : plan.targetBuild;
  const change = { target, joined: someJoined, left: someLeft };
  return { from: rollout.plan.hash, joined: joined.length, left: left.length, change };
}
