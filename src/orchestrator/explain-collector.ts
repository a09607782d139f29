import type { FleetCollector } from '../rollout/collector.ts';
import { explainUpgrade } from '../rollout/explain.ts';
import { describeFailure } from '../rollout/failure-classes.ts';
import { leftOutReasons, makeJudge } from '../rollout/plan.ts';
import type { Policy } from '../rollout/policy.ts';
import { loadRolloutView } from './load-view.ts';
import type { OperationsParts } from './make-operations.ts';
import type { ExplainResult, Explanation } from './operations.ts';

// Enough candidates to say whether this collector's lane is free; who exactly is next does not matter.
const pageSize = 100;

/** Why not now, and when: for each policy, from its rollout on the way, its last one, or its selection. */
export async function explainCollector(parts: OperationsParts, idOrName: string): Promise<ExplainResult> {
  const answer = await parts.fleet.findCollector(idOrName);
  if (!answer.ok) return { kind: 'unavailable', reason: describeFailure(answer.failure) };
  const collector = answer.value;
  if (collector === undefined) return { kind: 'unknownCollector' };
  const explanations: Explanation[] = [];
  for (const policy of parts.rollouts) explanations.push(await explainFor(parts, policy, collector));
  const { id, name, build } = collector;
  return { kind: 'explained', collectorId: id, collectorName: name, build, explanations };
}

async function explainFor(
  parts: OperationsParts,
  policy: Policy,
  collector: FleetCollector,
): Promise<Explanation> {
  const now = parts.clock.now();
  const [rollout] = await parts.store.activeRolloutIds([policy.name]);
  const upgrade = rollout === undefined ? undefined : await parts.store.loadUpgrade(rollout, collector.id);
  const at = { now, overdueBefore: 0, pageSize };
  const view = rollout === undefined ? undefined : await loadRolloutView(parts, rollout, at);
  if (upgrade !== undefined && view !== undefined) {
    const wave = view.rollout.waves[upgrade.wave]?.name ?? null;
    return {
      policy: policy.name,
      rollout: rollout ?? null,
      wave,
      state: upgrade.state,
      ...explainUpgrade(view, upgrade, now),
    };
  }
  const reason = await explainLeftOut(parts, policy, collector, view?.rollout.targetBuild);
  return { policy: policy.name, rollout: rollout ?? null, wave: null, state: null, reason, until: null };
}

/** Why it is in no rollout of this policy. */
async function explainLeftOut(
  parts: OperationsParts,
  policy: Policy,
  collector: FleetCollector,
  activeTarget: string | undefined,
): Promise<string> {
  const { collectors } = await parts.register.holds();
  const held = collectors.find(({ collectorId }) => collectorId === collector.id);
  const [last] = await parts.store.listRollouts([policy.name]);
  const target = activeTarget ?? last?.targetBuild;
  // Whether the service offers it the upgrade is seen at the next look for work; here it is taken to.
  const judge = makeJudge(policy, target ?? '', new Set([collector.id]), {
    heldCollectors: new Set(held === undefined ? [] : [collector.id]),
  });
  const reason = judge(collector);
  if (reason === 'held') return `held by ${held?.by ?? 'an operator'}: ${held?.reason ?? ''}`;
  if (reason !== undefined) return leftOutReasons[reason];
  const before = last === undefined ? undefined : await parts.store.loadUpgrade(last.id, collector.id);
  if (before !== undefined && 'endedAt' in before) {
    return `${before.state} in ${last?.id ?? ''}: ${before.reason}`;
  }
  return 'eligible: the next look for work takes it in, if the service offers it the upgrade';
}
