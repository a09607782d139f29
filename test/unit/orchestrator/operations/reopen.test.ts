import { expect, it } from 'vitest';
import { makeApplyVerb } from '../../../../src/orchestrator/operations/apply-verb.ts';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import {
  aFleetService,
  anUpgrade,
  aPolicy,
  aRollout,
  because,
  someGroups,
  startedAt as t,
} from '../../../support/builders.ts';
import { quietParts } from '../../../support/quiet-parts.ts';
import {
  makeMemoryFleetRegister,
  makeMemoryRolloutStore,
} from '../../../support/store/memory-rollout-store.ts';

const freezes = [{ from: '2020-01-01T00:00', to: '2040-01-01T00:00', reason: 'audit', timeZone: 'UTC' }];

it('a rollout that was over is on its way again by the present windows and freezes, from the first instant (P7)', async () => {
  const memory = makeMemoryRolloutStore(() => t);
  const rollout = aRollout();
  const failed = anUpgrade({
    state: 'failed',
    endedAt: t,
    reason: because('permission denied'),
    failureClass: 'permanent',
    weight: 1,
    lost: false,
  });
  await memory.freeze({ rollout, upgrades: [failed], groups: someGroups(), events: [] });
  const over = { ...rollout, rev: rollout.rev + 1, state: 'finishedWithFailures', endedAt: t } as const;
  await memory.saveRollout({ rollout: over, expectedRev: rollout.rev, events: [], brake: 'set' }, null);
  const running: Policy[] = [];
  const store: typeof memory = {
    ...memory,
    saveRollout: (change, fence) => {
      if (change.rollout.state === 'running') running.push(change.rollout.policy);
      return memory.saveRollout(change, fence);
    },
  };
  const apply = makeApplyVerb({
    ...quietParts,
    store,
    register: makeMemoryFleetRegister(),
    fleet: aFleetService(),
    policies: [rollout.policy.name],
    rollouts: [aPolicy({ freezes })],
    configs: { word: () => ({ generation: 2, isTakenUp: false }), beat: async () => undefined },
  });
  const judgement = await apply({ rolloutId: rollout.id, verb: 'retry', failed: 1, by: 'ann', reason: '' });
  expect(judgement).toMatchObject({ kind: 'change' });
  expect(running.map((policy) => policy.freezes)).toEqual([freezes]);
});
