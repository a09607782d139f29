import { describe, expect, it } from 'vitest';
import { reconcile } from '../../../../src/orchestrator/lead/reconcile.ts';
import type { UpgradeState } from '../../../../src/rollout/model/upgrade.ts';
import {
  aFleetService,
  anUpgrade,
  aRollout,
  aWave,
  because,
  oldBuild,
  someGroups,
  startedAt,
} from '../../../support/builders.ts';
import { quietParts } from '../../../support/quiet-parts.ts';
import { countingStore } from '../../../support/store/counting-store.ts';
import {
  makeMemoryFleetRegister,
  makeMemoryRolloutStore,
} from '../../../support/store/memory-rollout-store.ts';
import { pendingOnes } from '../../../support/store/store-changes.ts';

const id = 'production-20260302-1';
const rollbackId = 'production-20260302-2';

// Lists, a write for each 500 collectors, a view before and after: what a pass may take, however many there are.
const callsMax = 30;

function makeHouse() {
  const store = makeMemoryRolloutStore(() => startedAt);
  const counted = countingStore(store);
  const stopping = new AbortController();
  const parts = {
    ...quietParts,
    store: counted.store,
    register: makeMemoryFleetRegister(),
    fleet: aFleetService({}),
    queue: { deliver: async () => undefined, bringForward: async () => undefined },
    // Each is over when the pass is.
    backgroundTasks: {
      run: async (_key: string, work: (signal: AbortSignal) => Promise<'done' | 'again'>) => {
        await work(stopping.signal);
      },
    },
    gates: { ask: async () => ({ kind: 'error', detail: '' }) as const },
  };
  const lead = (fence = 1) => reconcile(parts, id, fence, 1_000, stopping.signal);
  const count = async (state: UpgradeState) =>
    (await store.listUpgrades(id, { offset: 0, limit: 10_000, state })).length;
  return { store, counted, stopping, lead, count };
}

describe('what the leader asks of the store', () => {
  it('withdraws 3,000 that wait with a few calls', async () => {
    const { store, counted, lead, count } = makeHouse();
    const rollout = aRollout({ state: 'aborted', waves: [aWave({ state: 'open', size: 3_000 })] });
    await store.freeze({ rollout, upgrades: pendingOnes(3_000), groups: someGroups(), events: [] });
    await lead();
    await lead();
    expect(await count('withdrawn')).toBe(3_000);
    expect((await store.loadRollout(id))?.endedAt).not.toBeNull();
    expect(await store.readEvents(id, { limit: 10_000 })).toHaveLength(3_000);
    expect(counted.total()).toBeLessThanOrEqual(callsMax);
  });

  it('ends the rollback of 3,000 with a few calls', async () => {
    const { store, counted, lead, count } = makeHouse();
    const over = {
      state: 'succeeded',
      endedAt: startedAt,
      reason: because(''),
      weight: 0,
      lost: false,
    } as const;
    const upgradesOf = (rolloutId: string) =>
      Array.from({ length: 3_000 }, (_, index) =>
        anUpgrade(over, { rolloutId, collectorId: index + 1, order: index + 1 }),
      );
    const waves = [aWave({ state: 'passed', size: 3_000 })];
    const rollout = aRollout({ state: 'rollingBack', rollbackId, waves });
    await store.freeze({ rollout, upgrades: upgradesOf(id), groups: someGroups(), events: [] });
    const rollback = aRollout({
      id: rollbackId,
      kind: 'rollback',
      state: 'succeeded',
      endedAt: startedAt,
      targetBuild: oldBuild,
      waves,
    });
    await store.freeze({
      rollout: rollback,
      upgrades: upgradesOf(rollbackId),
      groups: someGroups(),
      events: [],
    });
    await lead();
    expect(await count('rolledBack')).toBe(3_000);
    expect((await store.loadRollout(id))?.state).toBe('rolledBack');
    expect(counted.total()).toBeLessThanOrEqual(callsMax);
  });

  it('withdraws nobody of a rollout that has moved on meanwhile, nor for a leader that was followed by another', async () => {
    const { store, lead, count } = makeHouse();
    const rollout = aRollout({ state: 'aborted', waves: [aWave({ state: 'open', size: 10 })] });
    await store.freeze({ rollout, upgrades: pendingOnes(10), groups: someGroups(), events: [] });
    const newer = { ...rollout, rev: rollout.rev + 1, reason: because('seen by another leader') };
    const change = { rollout: newer, expectedRev: rollout.rev, events: [], brake: 'keep' } as const;
    expect(await store.saveRollout(change, 7)).toBe('saved');
    await lead(6);
    expect(await count('withdrawn')).toBe(0);
    await lead(7);
    expect(await count('withdrawn')).toBe(10);
  });
});
