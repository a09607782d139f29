import { describe, expect, it } from 'vitest';
import { checkActive } from '../../src/orchestrator/check-active.ts';
import type { FleetRegister } from '../../src/orchestrator/ports/fleet-register.ts';
import type { FleetService } from '../../src/orchestrator/ports/fleet-service.ts';
import type { RolloutStore } from '../../src/orchestrator/ports/rollout-store.ts';
import { claimedByOthers, makePlanMemory } from '../../src/orchestrator/read-plan.ts';
import { reconcile } from '../../src/orchestrator/reconcile.ts';
import { scan } from '../../src/orchestrator/scan.ts';
import { makeBrokenRecords } from '../../src/redis/broken-records.ts';
import { makeRedisFleetRegister } from '../../src/redis/redis-fleet-register.ts';
import { makeRedisRolloutStore } from '../../src/redis/redis-rollout-store.ts';
import { rolloutKeys } from '../../src/redis/rollout-keys.ts';
import { aFleet, aPolicy, aRollout, aWave, someGroups, startedAt, targetBuild } from '../support/builders.ts';
import { makeMemoryScanBook } from '../support/memory-scan-book.ts';
import { useRedis } from '../support/redis.ts';
import { pendingOnes } from '../support/store-changes.ts';

const redis = useRedis();
const id = 'production-20260302-1';

function aHouse() {
  const { commands } = redis.connect();
  const { keyPrefix } = redis.config();
  const told: string[] = [];
  const broken = makeBrokenRecords(({ what }) => told.push(what));
  const store = makeRedisRolloutStore({ commands, keyPrefix, broken });
  const register = makeRedisFleetRegister({ commands, keyPrefix, broken });
  const keys = rolloutKeys(keyPrefix, id);
  const breakRecord = (collectorId: number) =>
    commands.hset(keys.records, String(collectorId), `{"collectorId":${collectorId}`);
  return { commands, keyPrefix, told, store, register, keys, breakRecord };
}

function partsWith(house: { readonly store: RolloutStore; readonly register: FleetRegister }) {
  const fleet: Pick<FleetService, 'listBuilds' | 'readFleet'> = {
    listBuilds: async () => ({ ok: true, value: [{ version: targetBuild, latest: true }] }),
    readFleet: async () => ({ ok: true, value: aFleet(3) }),
  };
  return {
    store: house.store,
    register: house.register,
    // Nothing else of it is asked here.
    fleet: fleet as FleetService,
    clock: { now: () => startedAt },
    sink: { tell: () => undefined, note: () => undefined },
    bell: { ring: () => undefined },
    sleep: async () => undefined,
    answerWithinMs: 35_000,
    random: () => 0.5,
    policies: ['production'],
    scans: makeMemoryScanBook(),
    forecast: () => [],
    memory: { look: async () => 'born', refusal: () => undefined },
    queue: {
      deliver: async () => undefined,
      redeliver: async () => undefined,
      hasten: async () => undefined,
    },
    errands: { run: async () => undefined },
    gates: { ask: async () => ({ kind: 'error', detail: '' }) as const },
  };
}

describe('a record that cannot be read', () => {
  it('takes the turn of nobody else in its rollout', async () => {
    const house = aHouse();
    const policy = aPolicy({ concurrency: 1 });
    const rollout = aRollout({ policy, waves: [aWave({ state: 'open', size: 3 })] });
    await house.store.freeze({ rollout, upgrades: pendingOnes(3), groups: someGroups(), events: [] });
    await house.breakRecord(1);
    let wakeAt = await reconcile(partsWith(house), id, 1, 1_000);
    for (let pass = 0; pass < 3 && wakeAt === startedAt; pass += 1)
      wakeAt = await reconcile(partsWith(house), id, 1, 1_000);
    expect((await house.store.loadUpgrade(id, 2))?.state).toBe('queued');
    expect(house.told).toEqual([`the record of collector 1 of rollout ${id}`]);
    await expect(house.store.loadUpgrade(id, 1)).rejects.toThrow("can't be read");
  });

  it('is left out of lists, whose other pages are there', async () => {
    const house = aHouse();
    await house.store.freeze({
      rollout: aRollout(),
      upgrades: pendingOnes(4),
      groups: someGroups(),
      events: [],
    });
    await house.breakRecord(2);
    const idsOf = async (page: { offset: number; limit: number; state?: 'pending' }) =>
      (await house.store.listUpgrades(id, page)).map(({ collectorId }) => collectorId);
    expect(await idsOf({ offset: 0, limit: 2 })).toEqual([1]);
    expect(await idsOf({ offset: 2, limit: 2 })).toEqual([3, 4]);
    expect(await idsOf({ offset: 0, limit: 9, state: 'pending' })).toEqual([1, 3, 4]);
  });

  it('makes its collector no stranger: it has its turn, and joins nothing (P1)', async () => {
    const house = aHouse();
    const rollout = aRollout({ waves: [aWave({ state: 'open', size: 3 })] });
    await house.store.freeze({ rollout, upgrades: pendingOnes(3), groups: someGroups(), events: [] });
    await house.breakRecord(2);
    const others = { policy: 'other', policies: ['production', 'other'] };
    expect(await claimedByOthers(house.store, others, aFleet(3))).toEqual(new Set([1, 2, 3]));
    const parts = partsWith(house);
    const memory = makePlanMemory(parts, {
      policy: 'production',
      policies: parts.policies,
      history: [],
      at: startedAt,
    });
    await checkActive(parts, rollout.policy, id, memory);
    expect((await house.store.loadRollout(id))?.waves[0]?.joined).toBe(0);
  });
});

describe('a kept rollout that cannot be read', () => {
  it('is left out of the list, and stops no look for work', async () => {
    const house = aHouse();
    const over = { state: 'succeeded', waves: [aWave({ state: 'passed' })] } as const;
    const old = aRollout(over);
    await house.store.freeze({ rollout: old, upgrades: [], groups: someGroups(), events: [] });
    const ended = { rollout: { ...old, rev: 2, endedAt: startedAt }, expectedRev: 1, events: [] };
    await house.store.saveRollout({ ...ended, brake: 'keep' }, null);
    await house.commands.hset(house.keys.rollout, 'json', '{');
    expect((await scan(partsWith(house), aPolicy(), 'schedule')).kind).toBe('started');
    expect((await house.store.listRollouts(['production'])).length).toBe(1);
    expect(house.told).toEqual([`rollout ${id}`]);
    await expect(house.store.loadRollout(id)).rejects.toThrow("can't be read");
  });
});

describe('a hold that cannot be read', () => {
  it('is one still, as far as its key tells of what (P5, P14)', async () => {
    const house = aHouse();
    const good = { collectorId: 7, by: 'ann', reason: 'noisy', at: startedAt };
    await house.register.holdCollector(good);
    const key = `${house.keyPrefix}:{fleet}:holds`;
    await house.commands.hset(key, { 'collector:8': '{', 'build:19.1-1': 'x', 'collector:who': '{' });
    const unknown = { by: 'unknown', reason: "who held it, and why, can't be read", at: 0 };
    expect(await house.register.holds()).toEqual({
      builds: [{ build: '19.1-1', ...unknown }],
      collectors: [{ collectorId: 8, ...unknown }, good],
    });
    expect(house.told.toSorted()).toEqual([
      'the hold of build 19.1-1',
      'the hold of collector 8',
      'the hold of collector who',
    ]);
    expect(await house.register.releaseCollector(8)).toBe('released');
  });
});
