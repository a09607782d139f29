import type { FleetCollector } from '../rollout/collector.ts';
import { explainUnreadable, explainUpgrade } from '../rollout/explain.ts';
import { leftOutReasons, makeJudge } from '../rollout/plan.ts';
import type { Policy } from '../rollout/policy.ts';
import { type Asked, askForCollector, findPlannedCollector } from './find-collector.ts';
import { loadRolloutView } from './load-view.ts';
import type { OperationsParts } from './make-operations.ts';
import type { ExplainResult, Explanation } from './operations.ts';

// Enough candidates to say whether this collector's lane is free; who exactly is next does not matter.
const pageSize = 100;

/** Why not now, and when: for each policy, from its rollout on the way, its last one, or its selection. */
export async function explainCollector(parts: OperationsParts, idOrName: string): Promise<ExplainResult> {
  const planned = await findPlannedCollector(parts, idOrName);
  if (planned === undefined) {
    const asked = await askForCollector(parts, idOrName);
    if (asked.kind === 'unavailable') return asked;
    if (asked.kind === 'none') return { kind: 'unknownCollector' };
    const { id, name, build } = asked.collector;
    return explainFound(parts, { id, name, build, ask: async () => asked });
  }
  const { collectorId: id, collectorName: name, state } = planned;
  const build = state === 'succeeded' ? planned.toBuild : planned.fromBuild;
  // What its plan knows is told without the service; a policy that did not plan it has to know more.
  let asked: Promise<Asked> | undefined;
  const ask = () => {
    asked ??= askForCollector(parts, String(id));
    return asked;
  };
  return explainFound(parts, { id, name, build, ask });
}

interface Found extends Pick<FleetCollector, 'id' | 'name' | 'build'> {
  readonly ask: () => Promise<Asked>;
}

async function explainFound(parts: OperationsParts, found: Found): Promise<ExplainResult> {
  const explanations: Explanation[] = [];
  for (const policy of parts.rollouts) explanations.push(await explainFor(parts, policy, found));
  const { id, name, build } = found;
  return { kind: 'explained', collectorId: id, collectorName: name, build, explanations };
}

async function explainFor(parts: OperationsParts, policy: Policy, found: Found): Promise<Explanation> {
  const now = parts.clock.now();
  const [rollout] = await parts.store.activeRolloutIds([policy.name]);
  const { upgrades, unreadable } =
    rollout === undefined
      ? { upgrades: [], unreadable: [] }
      : await parts.store.loadUpgrades(rollout, [found.id]);
  const [upgrade] = upgrades;
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
  if (unreadable.length > 0 && view !== undefined) {
    const known = { policy: policy.name, rollout: rollout ?? null, wave: null, state: null };
    return { ...known, ...explainUnreadable(view, found.id, now) };
  }
  const asked = await found.ask();
  const reason =
    asked.kind === 'found'
      ? await explainLeftOut(parts, policy, asked.collector, view?.rollout.targetBuild)
      : asked.kind === 'none'
        ? 'the service has it no more'
        : `not planned; why, can't be told now: ${asked.reason}`;
  return { policy: policy.name, rollout: rollout ?? null, wave: null, state: null, reason, until: null };
}

/** Why it is in no rollout of this policy. */
async function explainLeftOut(
  parts: OperationsParts,
  policy: Policy,
  collector: FleetCollector,
  activeTarget: string | undefined,
): Promise<string> {
  const [held] = await parts.register.holdsOf([collector.id]);
  const newest = await parts.store.pageRollouts([policy.name], { limit: 1 });
  const last = newest?.rollouts[0];
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
