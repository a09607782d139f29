import { describe, expect, it } from 'vitest';
import { reconcile } from '../../../../src/orchestrator/lead/reconcile.ts';
import type { UpgradeState } from '../../../../src/rollout/model/upgrade.ts';
import { aRollout, askedFor, aWave, oldBuild, startedAt } from '../../../support/builders.ts';
import { aHouse, freeze, over, save, upgradesLike } from '../../../support/house.ts';
import { quietLead } from '../../../support/quiet-parts.ts';
import { countingStore } from '../../../support/store/counting-store.ts';

// Lists, a write for each 500 collectors, a view before and after: what a pass may take, however many there are.
const callsMax = 30;
const aborted = (size: number) => aRollout({ state: 'aborted', waves: [aWave({ state: 'open', size })] });

async function aLeader(of: Parameters<typeof aHouse>[0]) {
  const house = await aHouse(of);
  const counted = countingStore(house.store);
  const parts = { ...house.parts, ...quietLead, store: counted.store };
  const { id } = aRollout();
  const lead = (fence = 1) => reconcile(parts, id, fence, 1_000);
  const count = async (state: UpgradeState) =>
    (await house.store.listUpgrades(id, { offset: 0, limit: 10_000, state })).length;
  return { ...house, counted, lead, count };
}

describe('the calls of the leader to the store', () => {
  it('stay few when 3,000 waiting upgrades are withdrawn', async () => {
    const rollout = aborted(3_000);
    const upgrades = upgradesLike(3_000, { state: 'pending' });
    const { store, counted, lead, count, now } = await aLeader({ rollout, upgrades });
    await lead();
    await lead();
    expect(await count('withdrawn')).toBe(3_000);
    expect((await now()).endedAt).not.toBeNull();
    expect(await store.readEvents(rollout.id, { limit: 10_000 })).toHaveLength(3_000);
    expect(counted.total()).toBeLessThanOrEqual(callsMax);
  });

  it('stay few when the rollback of 3,000 upgrades ends', async () => {
    const rollbackId = 'production-20260302-2';
    const waves = [aWave({ state: 'passed', size: 3_000 })];
    const { store, counted, lead, count, now } = await aLeader({
      rollout: aRollout({ state: 'rollingBack', rollback: { startedAs: rollbackId }, waves }),
      upgrades: upgradesLike(3_000, over('succeeded')),
    });
    const plan = { targetBuild: oldBuild };
    const ended = { state: 'succeeded', endedAt: startedAt, plan } as const;
    const rollback = aRollout({ id: rollbackId, kind: 'rollback', ...ended, waves });
    await freeze(store, rollback, upgradesLike(3_000, over('succeeded'), rollbackId));
    await lead();
    expect(await count('rolledBack')).toBe(3_000);
    expect((await now()).state).toBe('rolledBack');
    expect(counted.total()).toBeLessThanOrEqual(callsMax);
  });

  it('end a rollout at once whose last upgrade waits for a heartbeat (P9)', async () => {
    const hour = startedAt + 3_600_000;
    const waiting = {
      state: 'queued',
      dueAt: hour,
      freshAt: startedAt,
      heartbeatAfter: hour,
      startBy: null,
    } as const;
    const { lead, count, now } = await aLeader({ rollout: aborted(1), upgrades: upgradesLike(1, waiting) });
    await lead();
    await lead();
    expect(await count('withdrawn')).toBe(1);
    expect((await now()).endedAt).not.toBeNull();
  });

  it('withdraw nothing when the rollout has changed meanwhile, or another leader has taken over', async () => {
    const rollout = aborted(10);
    const upgrades = upgradesLike(10, { state: 'pending' });
    const { store, lead, count } = await aLeader({ rollout, upgrades });
    expect(await save(store, rollout, { reason: askedFor('seen by another leader') }, 7)).toBe('saved');
    await lead(6);
    expect(await count('withdrawn')).toBe(0);
    await lead(7);
    expect(await count('withdrawn')).toBe(10);
  });
});
