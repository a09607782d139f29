import { expect, it } from 'vitest';
import { makeApplyVerb } from '../../../../src/orchestrator/operations/apply-verb.ts';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import { anUpgrade, aPolicy, aRollout, startedAt as t } from '../../../support/builders.ts';
import { aHouse, over, save } from '../../../support/house.ts';

const freezes = [{ from: '2020-01-01T00:00', to: '2040-01-01T00:00', reason: 'audit', timeZone: 'UTC' }];

it('a retry of chosen collectors leaves the other failures as they are', async () => {
  const rollout = aRollout();
  const failedOne = (collectorId: number) =>
    anUpgrade(
      { ...over('failed'), failureClass: 'permanent', weight: 1 },
      { collectorId, order: collectorId },
    );
  const { parts, store } = await aHouse({ rollout, upgrades: [failedOne(1), failedOne(2), failedOne(3)] });
  const apply = makeApplyVerb({
    ...parts,
    rollouts: () => [aPolicy()],
    configs: { versionOf: () => ({ generation: 2, isReinstated: false }), beat: async () => undefined },
  });
  const retry = (collectorIds: readonly number[]) =>
    apply({ rolloutId: rollout.id, verb: 'retry', failed: 3, collectorIds, by: 'ann', reason: '' });
  expect(await retry([7])).toEqual({ kind: 'refused', refusal: { kind: 'noneOfCollectors' } });
  expect(await retry([2, 7])).toMatchObject({ kind: 'change', retried: { chosen: 1, failed: 3 } });
  const { upgrades } = await store.loadUpgrades(rollout.id, [1, 2, 3]);
  expect(upgrades.map(({ progress }) => progress.state)).toEqual(['failed', 'retrying', 'failed']);
});

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
