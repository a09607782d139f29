import type { ApiStanding } from '../rollout/api-standing.ts';
import type { Policy } from '../rollout/policy.ts';
import type { Rollout } from '../rollout/rollout.ts';
import { describeRollout, type RolloutStatus } from '../rollout/status.ts';
import { type ApplyVerbParts, makeApplyVerb } from './apply-verb.ts';
import { explainCollector } from './explain-collector.ts';
import { hold, listHolds, release } from './hold-things.ts';
import { type ListPoliciesParts, listPolicies } from './list-policies.ts';
import { loadCauses } from './load-causes.ts';
import { loadRolloutSummary } from './load-view.ts';
import type { RolloutOperations, VerbResult } from './operations.ts';
import type { ReadApiStanding } from './ports/api-budget.ts';
import { showRollback } from './preview-rollback.ts';

export interface OperationsParts extends ApplyVerbParts, ListPoliciesParts {
  readonly store: ApplyVerbParts['store'];
  /** The policies of the config. */
  readonly rollouts: readonly Policy[];
  readonly readApiStanding: ReadApiStanding;
}

/** Makes what an operator can see and do, from store and register: it works on every daemon, leader or not. */
export function makeOperations(parts: OperationsParts): RolloutOperations {
  const { store, clock, readApiStanding } = parts;
  const applyVerb = makeApplyVerb(parts);
  const describe = async (rolloutId: string, api: ApiStanding): Promise<RolloutStatus | undefined> => {
    const now = clock.now();
    const view = await loadRolloutSummary(parts, rolloutId, now);
    if (view === undefined) return undefined;
    return describeRollout(view, now, api, await loadCauses(parts, view));
  };
  const rolloutStatus = async (rolloutId: string): Promise<RolloutStatus | undefined> =>
    describe(rolloutId, await readApiStanding());
  const describeAll = async (rollouts: readonly Rollout[], api: ApiStanding) => {
    const statuses = await Promise.all(rollouts.map(({ id }) => describe(id, api)));
    return statuses.filter((status) => status !== undefined);
  };
  return {
    rolloutStatus,
    listRollouts: async () => {
      const [rollouts, api] = await Promise.all([store.currentRollouts(parts.policies), readApiStanding()]);
      return describeAll(rollouts, api);
    },
    pageRollouts: async (page) => {
      const [found, api] = await Promise.all([store.pageRollouts(parts.policies, page), readApiStanding()]);
      if (found === undefined) return undefined;
      return { rollouts: await describeAll(found.rollouts, api), next: found.next };
    },
    listPolicies: () => listPolicies(parts),
    listUpgrades: async (rolloutId, page) => {
      if ((await store.loadRollout(rolloutId)) === undefined) return undefined;
      return store.listUpgrades(rolloutId, page);
    },
    readEvents: async (rolloutId, limit) => {
      if ((await store.loadRollout(rolloutId)) === undefined) return undefined;
      return store.readEvents(rolloutId, { limit });
    },
    previewRollback: (rolloutId) => showRollback(parts, rolloutId),
    apply: async (request) => {
      const judgement = await applyVerb(request);
      if (judgement === undefined) return { kind: 'unknownRollout' };
      if (judgement.kind === 'refused') return judgement;
      const status = await rolloutStatus(request.rolloutId);
      if (status === undefined) return { kind: 'unknownRollout' };
      return { kind: judgement.kind === 'change' ? 'done' : 'unchanged', status } satisfies VerbResult;
    },
    hold: (request) => hold(parts, request),
    release: (request) => release(parts, request),
    listHolds: () => listHolds(parts),
    readAudit: (limit) => parts.register.readAudit(limit),
    explain: (collector) => explainCollector(parts, collector),
  };
}
