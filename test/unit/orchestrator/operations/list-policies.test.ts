import { expect, it } from 'vitest';
import { listPolicies } from '../../../../src/orchestrator/operations/list-policies.ts';
import { aPolicy, aRollout, someGroups, startedAt } from '../../../support/builders.ts';
import { makeMemoryRolloutStore } from '../../../support/store/memory-rollout-store.ts';

it('a policy whose running rollout keeps limits of a config that no daemon has any more says so', async () => {
  const store = makeMemoryRolloutStore(() => startedAt);
  const config = { generation: 7, changes: 0 };
  const rollout = { ...aRollout({ policy: aPolicy({ concurrency: 5 }) }), config };
  await store.freeze({ rollout, upgrades: [], groups: someGroups(), events: [] });
  const policy = rollout.policy.name;
  const kindWith = async (
    concurrency: number,
    word: { generation: number; isTakenUp: boolean } | undefined,
  ) => {
    const { policies } = await listPolicies({
      store,
      scans: { read: async () => [] },
      policies: [policy],
      forecast: () => [],
      clock: { now: () => startedAt },
      configs: { standings: () => new Map(), word: () => word },
      rollouts: [aPolicy({ name: policy, concurrency })],
    });
    return policies.map((each) => each.config.kind);
  };
  const older = { generation: 3, isTakenUp: false };
  expect(await kindWith(50, older)).toEqual(['superseded']);
  // The same limits, a config that counts, and a daemon that cannot know.
  expect(await kindWith(5, older)).toEqual(['agreed']);
  expect(await kindWith(50, { ...older, isTakenUp: true })).toEqual(['agreed']);
  expect(await kindWith(50, { generation: 8, isTakenUp: false })).toEqual(['agreed']);
  expect(await kindWith(50, undefined)).toEqual(['agreed']);
});
