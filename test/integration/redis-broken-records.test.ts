import { describe, expect, it } from 'vitest';
import { changeRollout } from '../../src/orchestrator/change-rollout.ts';
import { checkActive } from '../../src/orchestrator/check-active.ts';
import { makeOperations } from '../../src/orchestrator/make-operations.ts';
import type { FleetRegister } from '../../src/orchestrator/ports/fleet-register.ts';
import type { RolloutStore } from '../../src/orchestrator/ports/rollout-store.ts';
import { claimedByOthers, makePlanMemory } from '../../src/orchestrator/read-plan.ts';
import { reconcile } from '../../src/orchestrator/reconcile.ts';
import { scan } from '../../src/orchestrator/scan.ts';
import { makeBrokenRecords } from '../../src/redis/broken-records.ts';
import { parseCounters } from '../../src/redis/counter-fields.ts';
import { makeRedisFleetRegister } from '../../src/redis/redis-fleet-register.ts';
import { makeRedisRolloutStore } from '../../src/redis/redis-rollout-store.ts';
import { rolloutKeys } from '../../src/redis/rollout-keys.ts';
import { countPlan } from '../../src/redis/upgrade-counters.ts';
import type { PlanGroups } from '../../src/rollout/plan-groups.ts';
import type { Upgrade } from '../../src/rollout/upgrade.ts';
import {
  aFleet,
  aFleetService,
  anApiStanding,
  anUpgrade,
  aPolicy,
  aRollout,
  aWave,
  someGroups,
  startedAt,
  targetBuild,
} from '../support/builders.ts';
import { makeMemoryScanBook } from '../support/memory-scan-book.ts';
import { quietParts } from '../support/quiet-parts.ts';
import { useRedis } from '../support/redis.ts';
import { anyProgress, pendingOnes } from '../support/store-changes.ts';

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
  const fleet = aFleetService({
    listBuilds: async () => ({ ok: true, value: [{ version: targetBuild, latest: true }] }),
    readFleet: async () => ({ ok: true, value: aFleet(3) }),
  });
  return {
    ...quietParts,
    store: house.store,
    register: house.register,
    fleet,
    scans: makeMemoryScanBook(),
    forecast: () => [],
    memory: { look: async () => 'born', refusal: () => undefined },
    queue: {
      deliver: async () => undefined,
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

const inShort = ({ collectorId, state, reason }: Upgrade & { readonly reason?: string }) =>
  `${collectorId} ${state}${reason === undefined ? '' : `: ${reason}`}`;

describe('records on their way that cannot be read for a long while', () => {
  const states = [
    'pending',
    'queued',
    'starting',
    'upgrading',
    'verifying',
    'retrying',
    'deferred',
    'succeeded',
    'failed',
  ] as const;
  const bytes = { 'cut off': '{"collectorId":9', 'no text at all': Buffer.from([0xff, 0xfe, 0x00, 0x80]) };

  /** Each wave has one collector of each state, and the last wave none that is broken. */
  async function aStore() {
    const house = aHouse();
    const groups: PlanGroups = {
      strata: [
        { label: 'a', sizes: [9, 9] },
        { label: 'b', sizes: [9, 9] },
      ],
      lanes: [
        { stratum: 0, timeZone: '', domains: [] },
        { stratum: 1, timeZone: '', domains: [1] },
      ],
      domains: [
        { label: 'x', cap: 5 },
        { label: 'y', cap: 5 },
      ],
    };
    const upgrades = [0, 1].flatMap((wave) =>
      states.map((state, index) =>
        anUpgrade(anyProgress(state, startedAt), {
          collectorId: wave * 100 + index,
          order: wave * 9 + index,
          wave,
          lane: 1,
          stratum: 1,
          domains: [1],
        }),
      ),
    );
    const waves = [
      aWave({ name: 'canary', state: 'open', size: 9 }),
      aWave({ name: 'rest', state: 'open', size: 9 }),
    ];
    const policy = aPolicy({ concurrency: 10 });
    const rollout = aRollout({ policy, waves });
    await house.store.freeze({ rollout, upgrades, groups, events: [] });
    const breakAll = async (ids: readonly number[], text: string | Buffer = '{"collectorId":9') => {
      for (const each of ids) await house.commands.hset(house.keys.records, String(each), text);
      await house.store.loadUpgrades(id, ids);
    };
    const mend = async () => {
      const view = await house.store.loadView(id, { now: startedAt, overdueBefore: 0, pageSize: 9 });
      const parts = partsWith(house);
      const unreadable = view?.unreadable ?? { collectorIds: [], forMs: 0 };
      // As after the time in which a person, or a newer version of us, may still read them.
      const later = { ...unreadable, forMs: 3_600_000 };
      const store: RolloutStore = {
        ...house.store,
        loadView: async (...args) => {
          const seen = await house.store.loadView(...args);
          return seen?.unreadable === undefined ? seen : { ...seen, unreadable: later };
        },
      };
      await reconcile({ ...parts, store }, id, 1, 1_000);
    };
    /** What all that can be read come to, and what is counted. */
    const counted = async () => {
      const all = await house.store.listUpgrades(id, { offset: 0, limit: 100 });
      const fields = parseCounters(Object.entries(await house.commands.hgetall(house.keys.counters)).flat());
      return { all, fields, expected: countPlan(all) };
    };
    return { ...house, upgrades, breakAll, mend, counted };
  }

  it.each(Object.entries(bytes))('are mended, and everything adds up again: %s (P9)', async (_name, text) => {
    const { breakAll, mend, counted } = await aStore();
    await breakAll([0, 1, 2, 3, 4, 5, 6], text);
    await mend();
    const { all, fields, expected } = await counted();
    expect(new Map(fields)).toEqual(new Map(expected));
    const withdrawn = 'withdrawn: its record in Redis could not be read';
    expect(all.filter(({ wave }) => wave === 0).map(inShort)).toEqual([
      `0 ${withdrawn}`,
      // One of them may be running, and nobody knows which.
      '1 upgrading',
      '2 upgrading',
      '3 upgrading',
      '4 upgrading',
      `5 ${withdrawn}`,
      '6 upgrading',
      '7 succeeded: ',
      '8 failed: ',
    ]);
  });

  it('are withdrawn where nothing can be running, and their slot is free; else they keep it (P1, P2)', async () => {
    const { store, breakAll, mend, counted } = await aStore();
    const slots = async () =>
      (await store.loadView(id, { now: 0, overdueBefore: 0, pageSize: 1 }))?.slotsTaken;
    expect(await slots()).toBe(6);
    await breakAll([1, 6, 103]);
    await mend();
    const found = await store.loadUpgrades(id, [1, 6, 103]);
    expect(found.upgrades.map(({ state }) => state)).toEqual(['withdrawn', 'withdrawn', 'upgrading']);
    expect(await slots()).toBe(5);
    // No attempt is left: what is not on the build in the end is not created again.
    expect(found.upgrades[2]).toMatchObject({ taskId: null, attempts: 2, domains: [1], stratum: 1 });
    const { fields, expected } = await counted();
    expect(new Map(fields)).toEqual(new Map(expected));
  });

  it('keep what can still be read of them, and are told with their text', async () => {
    const { store, commands, keys, breakAll, mend } = await aStore();
    const text = (await commands.hget(keys.records, '0')) ?? '';
    await breakAll([0], text.slice(0, -9));
    await mend();
    expect((await store.loadUpgrade(id, 0))?.collectorName).toBe(
      anUpgrade({ state: 'pending' }).collectorName,
    );
    const events = await store.readEvents(id, { limit: 9 });
    const event = events.find(({ collectorId }) => collectorId === 0);
    expect(event).toMatchObject({ event: 'upgrade.withdrawn', collectorId: 0, wave: 'canary' });
    expect(event?.reason).toContain(text.slice(0, -9));
  });

  it('stay as they are when they are over, and are left alone from then on', async () => {
    const { store, commands, keys, breakAll, mend } = await aStore();
    await breakAll([7, 8], '{');
    await mend();
    expect(await commands.hmget(keys.records, '7', '8')).toEqual(['{', '{']);
    expect(await store.loadView(id, { now: 0, overdueBefore: 0, pageSize: 1 })).not.toHaveProperty(
      'unreadable',
    );
  });

  it('are not overwritten once somebody has mended them by hand', async () => {
    const { store, commands, keys, breakAll, mend } = await aStore();
    const text = (await commands.hget(keys.records, '3')) ?? '';
    await breakAll([3]);
    await commands.hset(keys.records, '3', text);
    await mend();
    expect(await commands.hget(keys.records, '3')).toBe(text);
    expect(await store.loadView(id, { now: 0, overdueBefore: 0, pageSize: 1 })).not.toHaveProperty(
      'unreadable',
    );
  });

  it('are left alone by a leader that was followed by another one', async () => {
    const { store, breakAll, mend } = await aStore();
    const lastWord = { rollout: aRollout({ rev: 2 }), expectedRev: 1, events: [], brake: 'set' } as const;
    expect(await store.saveRollout(lastWord, 2)).toBe('saved');
    await breakAll([3]);
    await mend();
    expect((await store.loadUpgrades(id, [3])).unreadable).toEqual([3]);
  });

  it('let an aborted rollout come to its end', async () => {
    const house = aHouse();
    const rollout = aRollout({ state: 'aborted', waves: [aWave({ state: 'open', size: 3 })] });
    await house.store.freeze({ rollout, upgrades: pendingOnes(3), groups: someGroups(), events: [] });
    await house.breakRecord(2);
    await reconcile(partsWith(house), id, 1, 1_000);
    await reconcile(partsWith(house), id, 1, 1_000);
    expect((await house.store.loadRollout(id))?.endedAt).toBe(startedAt);
  });
});

describe('groups of a plan that cannot be read', () => {
  async function aBrokenPlan() {
    const house = aHouse();
    const waves = [aWave({ state: 'open', size: 3 })];
    const rollout = aRollout({ waves });
    await house.store.freeze({ rollout, upgrades: pendingOnes(3), groups: someGroups(), events: [] });
    const other = aRollout({ id: 'other-20260302-1', policy: aPolicy({ name: 'other' }), waves });
    const others = pendingOnes(3, { rolloutId: other.id });
    await house.store.freeze({ rollout: other, upgrades: others, groups: someGroups(), events: [] });
    await house.commands.set(house.keys.groups, '{');
    // Another daemon, which has not read them before.
    const broken = makeBrokenRecords(({ what }) => house.told.push(what));
    return { ...house, store: makeRedisRolloutStore({ ...house, broken }) };
  }

  it('hide neither their rollout nor the others, and hold it with the reason (P2, P14)', async () => {
    const house = await aBrokenPlan();
    const parts = partsWith(house);
    await reconcile(parts, id, 1, 1_000);
    await reconcile(parts, id, 1, 1_000);
    const operations = makeOperations({
      ...parts,
      policies: ['production', 'other'],
      rollouts: [aPolicy()],
      readApiStanding: async () => anApiStanding(),
    });
    const found = await operations.listRollouts();
    expect(found.map((status) => [status.id, status.state])).toEqual([
      [id, 'held'],
      ['other-20260302-1', 'running'],
    ]);
    expect(found[0]?.reason).toContain("can't be read");
    expect(house.told).toEqual([`the groups of rollout ${id}`]);
    expect((await house.store.loadUpgrade(id, 1))?.state).toBe('pending');
  });

  it('let it be aborted, and come to its end', async () => {
    const house = await aBrokenPlan();
    const parts = partsWith(house);
    await reconcile(parts, id, 1, 1_000);
    const abort = { kind: 'aborted', at: startedAt, reason: 'broken' } as const;
    await changeRollout(parts, id, 'ann', () => abort);
    for (let pass = 0; pass < 3; pass += 1) await reconcile(parts, id, 1, 1_000);
    expect((await house.store.loadRollout(id))?.endedAt).toBe(startedAt);
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
