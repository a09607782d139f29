import { expect, it } from 'vitest';
import { makeApplyVerb } from '../../../../src/orchestrator/operations/apply-verb.ts';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import { anUpgrade, aPolicy, aRollout, startedAt as t } from '../../../support/builders.ts';
import { aHouse, over, save } from '../../../support/house.ts';

const freezes = [{ from: '2020-01-01T00:00', to: '2040-01-01T00:00', reason: 'audit', timeZone: 'UTC' }];

it('a rollout that is reopened follows the present windows and freezes from the start (P7)', async () => {
  const rollout = aRollout();
  const failed = anUpgrade({ ...over('failed'), failureClass: 'permanent', weight: 1 });
  const { parts, store: memory } = await aHouse({ rollout, upgrades: [failed] });
  await save(memory, rollout, { state: 'finishedWithFailures', endedAt: t });
  const running: Policy[] = [];
  const store: typeof memory = {
    ...memory,
    saveRollout: (change, fence) => {
      if (change.rollout.state === 'running') running.push(change.rollout.policy);
      return memory.saveRollout(change, fence);
    },
  };
  const apply = makeApplyVerb({
    ...parts,
    store,
    rollouts: () => [aPolicy({ freezes })],
    configs: { versionOf: () => ({ generation: 2, isReinstated: false }), beat: async () => undefined },
  });
  const judgement = await apply({ rolloutId: rollout.id, verb: 'retry', failed: 1, by: 'ann', reason: '' });
  expect(judgement).toMatchObject({ kind: 'change' });
  expect(running.map((policy) => policy.freezes)).toEqual([freezes]);
});
