import { describeRollout, type RolloutStatus } from '../rollout/status.ts';
import { judgeVerb, type VerbJudgement } from '../rollout/verbs.ts';
import { type ChangeRolloutParts, changeRollout, waitForLeavingCreates } from './change-rollout.ts';
import type { Operations, VerbRequest, VerbResult } from './operations.ts';

export interface OperationsParts extends ChangeRolloutParts {
  readonly policies: readonly string[];
  /** For estimates. */
  readonly requestsPerSecond: number;
}

/** Makes what an operator can see and do, from the store alone: it works on every daemon, leader or not. */
export function makeOperations(parts: OperationsParts): Operations {
  const { store, clock } = parts;
  const rolloutStatus = async (rolloutId: string): Promise<RolloutStatus | undefined> => {
    const now = clock.now();
    const view = await store.loadView(rolloutId, { now, overdueBefore: 0, pageSize: 1 });
    return view === undefined ? undefined : describeRollout(view, now, parts.requestsPerSecond);
  };
  return {
    rolloutStatus,
    listRollouts: async () => {
      const rollouts = await store.listRollouts(parts.policies);
      const statuses = await Promise.all(rollouts.map(({ id }) => rolloutStatus(id)));
      return statuses.filter((status) => status !== undefined);
    },
    listUpgrades: async (rolloutId, page) => {
      if ((await store.loadRollout(rolloutId)) === undefined) return undefined;
      return store.listUpgrades(rolloutId, page);
    },
    readEvents: async (rolloutId, limit) => {
      if ((await store.loadRollout(rolloutId)) === undefined) return undefined;
      return store.readEvents(rolloutId, { limit });
    },
    apply: async (request) => {
      const judgement = await applyVerb(parts, request);
      if (judgement === undefined) return { kind: 'unknownRollout' };
      if (judgement.kind === 'refused') return judgement;
      const status = await rolloutStatus(request.rolloutId);
      if (status === undefined) return { kind: 'unknownRollout' };
      return { kind: judgement.kind === 'change' ? 'done' : 'unchanged', status } satisfies VerbResult;
    },
  };
}

async function applyVerb(parts: OperationsParts, request: VerbRequest): Promise<VerbJudgement | undefined> {
  let judgement: VerbJudgement | undefined;
  const view = await changeRollout(parts, request.rolloutId, request.by, (current) => {
    judgement = judgeVerb(current, { ...request, at: parts.clock.now() });
    return judgement.kind === 'change' ? judgement.fact : undefined;
  });
  if (view === undefined) return undefined;
  if (request.verb !== 'resume' && judgement?.kind !== 'refused')
    await waitForLeavingCreates(parts, request.rolloutId);
  return judgement;
}
