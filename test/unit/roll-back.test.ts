import { describe, expect, it } from 'vitest';
import { beginRollback } from '../../src/orchestrator/roll-back.ts';
import {
  aCollector,
  aFleet,
  aFleetService,
  anUpgrade,
  aRollout,
  aView,
  oldBuild,
  someGroups,
  startedAt,
  targetBuild,
} from '../support/builders.ts';
import { makeMemoryFleetRegister, makeMemoryRolloutStore } from '../support/memory-rollout-store.ts';
import { quietParts } from '../support/quiet-parts.ts';

const policies = ['production'];

async function aRollingBackOne() {
  const store = makeMemoryRolloutStore(() => startedAt);
  const rollout = aRollout({ state: 'rollingBack' });
  const upgraded = anUpgrade({ state: 'succeeded', endedAt: startedAt, reason: '', weight: 0, lost: false });
  await store.freeze({ rollout, upgrades: [upgraded], groups: someGroups(), events: [] });
  const inventory = { ...aFleet(1), collectors: [aCollector({ id: 1, build: targetBuild })] };
  const parts = {
    ...quietParts,
    store,
    register: makeMemoryFleetRegister(),
    fleet: aFleetService({
      listBuilds: async () => ({ ok: true, value: [{ version: oldBuild, latest: false }] }),
      readInventory: async () => ({ ok: true, value: inventory }),
    }),
    policies,
  };
  return { store, begin: () => beginRollback(parts, aView({ rollout }), new AbortController().signal) };
}

describe('the beginning of a rollback', () => {
  it('is a rollout of its own', async () => {
    const { store, begin } = await aRollingBackOne();
    expect(await begin()).toBe('done');
    expect(await store.activeRolloutIds(policies)).toEqual([
      'production-20260302-1',
      'production-20260302-2',
    ]);
  });

  it('is asked for again with a rest while another one has its place', async () => {
    const { store, begin } = await aRollingBackOne();
    const other = aRollout({ id: 'production-20260302-9', kind: 'rollback' });
    await store.freeze({ rollout: other, upgrades: [], groups: someGroups(), events: [] });
    expect(await begin()).toBe('again');
  });
});
