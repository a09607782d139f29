import { describe, expect, it } from 'vitest';
import { reconcile } from '../../../../src/orchestrator/lead/reconcile.ts';
import { makeOperations } from '../../../../src/orchestrator/operations/make-operations.ts';
import type { FleetRegister } from '../../../../src/orchestrator/ports/fleet-register.ts';
import type { BackgroundTasks } from '../../../../src/orchestrator/ports/leader.ts';
import type { RolloutStore } from '../../../../src/orchestrator/ports/rollout-store.ts';
import { changeRollout } from '../../../../src/orchestrator/records/change-rollout.ts';
import { checkActive } from '../../../../src/orchestrator/scan/check-active.ts';
import { claimedByOthers, makePlanMemory } from '../../../../src/orchestrator/scan/read-plan.ts';
import { scan } from '../../../../src/orchestrator/scan/scan.ts';
import { makeRedisFleetRegister } from '../../../../src/redis/coordination/fleet-register.ts';
import { exportRollout, type RecordLine } from '../../../../src/redis/rollout-store/export-rollout.ts';
import { makeRedisRolloutStore } from '../../../../src/redis/rollout-store/rollout-store.ts';
import { countPlan } from '../../../../src/redis/rollout-store/upgrade-counters.ts';
import { parseCounters } from '../../../../src/redis/schema/counter-fields.ts';
import { rolloutKeys } from '../../../../src/redis/schema/rollout-keys.ts';
import { makeBrokenRecords } from '../../../../src/redis/schema/unreadable-records.ts';
import { upgradeWords } from '../../../../src/rollout/messages/upgrade-reasons.ts';
import type { PlanGroups } from '../../../../src/rollout/model/plan-groups.ts';
import type { Rollout } from '../../../../src/rollout/model/rollout.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { end } from '../../../../src/rollout/upgrade/transitions.ts';
import {
  aFleet,
  aFleetService,
  anApiBudgetStatus,
  anUpgrade,
  anUpgradingOne,
  aPolicy,
  aRollout,
  aWave,
  aWaveRule,
  because,
  someGroups,
  startedAt,
  targetBuild,
} from '../../../support/builders.ts';
import { namingNothing } from '../../../support/night/as-shown.ts';
import { quietParts } from '../../../support/quiet-parts.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { makeMemoryScanBook } from '../../../support/store/memory-scan-book.ts';
import { anyProgress, pendingOnes } from '../../../support/store/store-changes.ts';

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
  return { commands, keyPrefix, told, broken, store, register, keys, breakRecord };
}

/** Background tasks that are over when the pass is. */
const runAtOnce: BackgroundTasks = {
  run: async (_key, work) => {
    await work(new AbortController().signal);
  },
};

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
    memory: { check: async () => 'store', refusal: () => undefined },
    queue: {
      deliver: async () => undefined,
      bringForward: async () => undefined,
    },
    backgroundTasks: runAtOnce,
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
    expect((await house.store.loadUpgrade(id, 2))?.progress.state).toBe('queued');
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
      (await house.store.listUpgrades(id, page)).map(({ identity: { collectorId } }) => collectorId);
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

const inShort = (upgrade: Upgrade) => {
  const words = upgradeWords(upgrade);
  return `${upgrade.identity.collectorId} ${upgrade.progress.state}${words === '' ? '' : `: ${words}`}`;
};

describe('corrupt records on their way', () => {
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
    const operations = makeOperations({
      ...partsWith(house),
      policies: ['production'],
      rollouts: [policy],
      readApiBudgetStatus: async () => anApiBudgetStatus(),
    });
    const repair = (settlement: 'watch' | 'withdraw', collectorId?: number) => {
      const words = { rolloutId: id, by: 'ann', reason: 'checked', settlement };
      return operations.repair(collectorId === undefined ? words : { ...words, collectorId });
    };
    const view = () => house.store.loadView(id, { now: startedAt, overdueBefore: 0, pageSize: 9 });
    /** What all that can be read come to, and what is counted. */
    const counted = async () => {
      const all = await house.store.listUpgrades(id, { offset: 0, limit: 100 });
      const fields = parseCounters(Object.entries(await house.commands.hgetall(house.keys.counters)).flat());
      return { all, fields, expected: countPlan(all) };
    };
    return { ...house, upgrades, breakAll, repair, view, counted };
  }

  it.each(Object.entries(bytes))(
    'are settled by a person, and everything adds up again: %s (P9)',
    async (_name, text) => {
      const { breakAll, repair, counted } = await aStore();
      await breakAll([0, 1, 2, 3, 4, 5, 6], text);
      expect((await repair('watch')).kind).toBe('done');
      const { all, fields, expected } = await counted();
      expect(new Map(fields)).toEqual(new Map(expected));
      const withdrawn = 'withdrawn: its record in Redis could not be read';
      expect(all.filter(({ identity: { wave } }) => wave === 0).map(inShort)).toEqual([
        `0 ${withdrawn}`,
        // Each of them may be running.
        '1 upgrading',
        '2 upgrading',
        '3 upgrading',
        '4 upgrading',
        `5 ${withdrawn}`,
        '6 upgrading',
        '7 succeeded',
        '8 failed',
      ]);
      expect((await repair('watch')).kind).toBe('refused');
    },
  );

  it('hold their slots, and are shown, until they are settled; nothing mends them (P2)', async () => {
    const { store, breakAll, repair, view } = await aStore();
    expect((await view())?.slotsTaken).toBe(6);
    await breakAll([1, 6, 103]);
    expect(await view()).toMatchObject({ slotsTaken: 6, corruptUpgrades: [1, 6, 103] });
    await repair('withdraw');
    const found = await store.loadUpgrades(id, [1, 6, 103]);
    expect(found.upgrades.map(({ progress: { state } }) => state)).toEqual([
      'withdrawn',
      'withdrawn',
      'withdrawn',
    ]);
    expect((await view())?.slotsTaken).toBe(4);
    expect(await view()).not.toHaveProperty('corruptUpgrades');
  });

  it('are settled one by one: what is left counts as running (P1, P2)', async () => {
    const { store, breakAll, repair, view, counted } = await aStore();
    await breakAll([1, 3, 5]);
    expect((await repair('withdraw', 1)).kind).toBe('done');
    const before = await view();
    expect(before?.corruptUpgrades).toEqual([3, 5]);
    expect(before?.slotsTaken).toBe(5);
    expect((await repair('watch', 3)).kind).toBe('done');
    // No attempt is left: what is not on the build in the end is not created again. Its lane is unknown: all caps.
    expect((await store.loadUpgrades(id, [3])).upgrades[0]).toMatchObject({
      identity: { domains: [0, 1] },
      tally: { attempts: 2 },
      progress: { state: 'upgrading', taskId: null },
    });
    expect((await repair('watch', 5)).kind).toBe('done');
    const { fields, expected } = await counted();
    expect(new Map(fields)).toEqual(new Map(expected));
    expect(await repair('watch', 7)).toMatchObject({ kind: 'refused' });
  });

  it('keep what can still be read of them; the event has their text, and who repaired them', async () => {
    const { store, commands, keys, breakAll, repair } = await aStore();
    const text = (await commands.hget(keys.records, '0')) ?? '';
    await breakAll([0], text.slice(0, -9));
    await repair('withdraw');
    expect((await store.loadUpgrade(id, 0))?.identity.collectorName).toBe(
      anUpgrade({ state: 'pending' }).identity.collectorName,
    );
    const events = await store.readEvents(id, { limit: 9 });
    const event = events.find(({ collectorId }) => collectorId === 0);
    expect(event).toMatchObject({ event: 'upgrade.withdrawn', collectorId: 0, wave: 'canary', by: 'ann' });
    expect(event?.reason).toContain('checked');
    expect(event?.reason).toContain(text.slice(0, -9));
  });

  it('stay as they are when they are over: nothing waits for them', async () => {
    const { commands, keys, breakAll, repair, view } = await aStore();
    await breakAll([7, 8], '{');
    expect(await view()).not.toHaveProperty('corruptUpgrades');
    expect((await repair('watch')).kind).toBe('refused');
    expect(await commands.hmget(keys.records, '7', '8')).toEqual(['{', '{']);
  });

  it('go on where they stood once somebody has repaired them by hand', async () => {
    const { commands, keys, breakAll, view } = await aStore();
    const text = (await commands.hget(keys.records, '3')) ?? '';
    await breakAll([3]);
    expect(await view()).toHaveProperty('corruptUpgrades');
    await commands.hset(keys.records, '3', text);
    expect(await view()).not.toHaveProperty('corruptUpgrades');
  });

  it('keep an aborted rollout open until they are settled (P2, P9)', async () => {
    const house = aHouse();
    const rollout = aRollout({ state: 'aborted', waves: [aWave({ state: 'open', size: 3 })] });
    await house.store.freeze({ rollout, upgrades: pendingOnes(3), groups: someGroups(), events: [] });
    await house.breakRecord(2);
    const parts = partsWith(house);
    for (let again = 0; again < 3; again += 1) await reconcile(parts, id, 1, 1_000);
    expect((await house.store.loadRollout(id))?.endedAt).toBe(null);
    const operations = makeOperations({
      ...parts,
      policies: ['production'],
      rollouts: [aPolicy()],
      readApiBudgetStatus: async () => anApiBudgetStatus(),
    });
    expect((await operations.rolloutStatus(id))?.blockers).toContainEqual(
      expect.objectContaining({ kind: 'recordsUnreadable' }),
    );
    await operations.repair({ rolloutId: id, settlement: 'watch', by: 'ann', reason: '' });
    await reconcile(parts, id, 1, 1_000);
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
      readApiBudgetStatus: async () => anApiBudgetStatus(),
    });
    const found = await operations.listRollouts();
    expect(found.map((status) => [status.id, status.state])).toEqual([
      [id, 'held'],
      ['other-20260302-1', 'running'],
    ]);
    expect(found[0]?.reason).toContain('are unreadable');
    expect(house.told).toEqual([`the groups of rollout ${id}`]);
    expect((await house.store.loadUpgrade(id, 1))?.progress.state).toBe('pending');
  });

  it('let it be aborted, and come to its end', async () => {
    const house = await aBrokenPlan();
    const parts = partsWith(house);
    await reconcile(parts, id, 1, 1_000);
    const abort = { kind: 'aborted', at: startedAt, reason: because('broken') } as const;
    await changeRollout(parts, id, 'ann', () => abort);
    for (let pass = 0; pass < 3; pass += 1) await reconcile(parts, id, 1, 1_000);
    expect((await house.store.loadRollout(id))?.endedAt).toBe(startedAt);
  });
});

describe("a rollout's own record that cannot be read, while it is on its way", () => {
  const names = ['production', 'other'];
  const ask = { rolloutId: id, by: 'ann', reason: 'enough' } as const;
  const policy = aPolicy({ waves: [aWaveRule({ name: 'canary' }), aWaveRule({ name: 'rest' })] });

  /** One upgraded, one just upgraded, two that wait in the second wave; and then somebody breaks it. */
  async function aBrokenRollout(
    changes: Partial<Rollout> = {},
    text: string | Buffer | null = '{"id":"produ',
  ) {
    const house = aHouse();
    const store = makeRedisRolloutStore({ ...house, policies: [policy], broken: house.broken });
    const waves = [
      aWave({ name: 'canary', state: 'passed', size: 2 }),
      aWave({ name: 'rest', state: 'open', size: 2 }),
    ];
    const rollout = aRollout({ policy, waves, ...changes });
    const upgrades = [
      anUpgrade({ state: 'succeeded', endedAt: startedAt, reason: because(''), weight: 0, lost: false }),
      anUpgradingOne({}, { collectorId: 2, order: 1 }),
      ...pendingOnes(2).map((each, at) => ({
        ...each,
        identity: { ...each.identity, collectorId: at + 3, order: at + 2, wave: 1 },
      })),
    ];
    await store.freeze({ rollout, upgrades, groups: someGroups(), events: [] });
    const good = (await house.commands.hget(house.keys.rollout, 'json')) ?? '';
    if (text === null) await house.commands.hdel(house.keys.rollout, 'json');
    else await house.commands.hset(house.keys.rollout, 'json', text);
    const parts = partsWith({ store, register: house.register });
    const operations = makeOperations({
      ...parts,
      policies: names,
      rollouts: [policy],
      readApiBudgetStatus: async () => anApiBudgetStatus(),
    });
    const pass = () => reconcile(parts, id, 1, 1_000);
    /** The one that is just upgraded comes to its end. */
    const endRunning = async () => {
      const before = await store.loadUpgrade(id, 2);
      if (before === undefined) throw new Error('it is there');
      expect(before.progress.state).toBe('upgrading');
      const after = end(before, 'succeeded', startedAt, because('on the build'));
      expect(await store.saveUpgrade({ before, after, events: [] }, null)).toBe('saved');
    };
    return { ...house, store, parts, operations, good, pass, endRunning };
  }

  it.each([
    ['cut off', '{"id":"produ'],
    ['no text at all', Buffer.from([0xff, 0xfe, 0x00, 0x80])],
    ['empty', ''],
    ['of another kind', '[1]'],
    ['of another rollout', JSON.stringify(aRollout({ id: 'production-20260302-9' }))],
    ['without its policy', JSON.stringify({ ...aRollout(), policy: { name: 'production' } })],
    ['not there', null],
  ])('stops no pass, and nothing of it starts: %s (P2, P3)', async (_name, text) => {
    const { pass, store, told } = await aBrokenRollout({}, text);
    for (let again = 0; again < 3; again += 1) await pass();
    expect((await store.loadUpgrades(id, [3, 4])).upgrades.map(({ progress: { state } }) => state)).toEqual([
      'pending',
      'pending',
    ]);
    expect(told).toEqual([`rollout ${id}`]);
  });

  it('is shown as held, with what is known beside it, and what to do', async () => {
    const { operations } = await aBrokenRollout();
    const status = await operations.rolloutStatus(id);
    expect(status).toMatchObject({
      id,
      policy: 'production',
      state: 'held',
      reason: expect.stringContaining(`abort it`),
      recordUnreadable: 'corrupt',
      targetBuild,
      createdAt: startedAt,
      endedAt: null,
      planned: 4,
      inFlight: 1,
      counts: { succeeded: 1, upgrading: 1, pending: 2 },
    });
    expect(status?.waves.map(({ name, size, state }) => [name, size, state])).toEqual([
      ['canary', 2, 'passed'],
      ['rest', 2, 'open'],
    ]);
    expect((await operations.listRollouts()).map((each) => each.id)).toEqual([id]);
    expect(await operations.readEvents(id, 9)).toEqual([]);
    expect((await operations.listUpgrades(id, { offset: 0, limit: 9 }))?.length).toBe(4);
    expect(await operations.listHolds()).toEqual({ builds: [], collectors: [], strata: [] });
    expect(await operations.explain('3')).toMatchObject({
      explanations: [{ rollout: id, wave: 'rest', reason: expect.stringContaining('is unreadable') }],
    });
    expect(status?.verbs).toEqual(['abort']);
  });

  it('is aborted, and ends as such once nothing of it runs; its old text is in an event (P4, P9)', async () => {
    const { operations, store, commands, keys, pass, endRunning } = await aBrokenRollout();
    const answer = await operations.apply({ ...ask, verb: 'abort' });
    expect(answer).toMatchObject({ kind: 'done', status: { state: 'aborted', recordUnreadable: null } });
    expect(await commands.hget(keys.rollout, 'brake')).toBe('1');
    for (let again = 0; again < 3; again += 1) await pass();
    expect((await store.loadUpgrades(id, [3, 4])).upgrades.map(({ progress: { state } }) => state)).toEqual([
      'withdrawn',
      'withdrawn',
    ]);
    expect((await store.loadRollout(id))?.endedAt).toBe(null);
    await endRunning();
    for (let again = 0; again < 3; again += 1) await pass();
    expect(await store.loadRollout(id)).toMatchObject({ state: 'aborted', endedAt: startedAt, targetBuild });
    expect(await store.activeRolloutIds(['production'])).toEqual([]);
    const [event] = (await store.readEvents(id, { limit: 9 })).filter(
      ({ event }) => event === 'rollout.aborted',
    );
    expect(event).toMatchObject({ by: 'ann', reason: expect.stringContaining('{"id":"produ') });
    expect(await operations.apply({ ...ask, verb: 'abort' })).toMatchObject({ kind: 'unchanged' });
  });

  it.each(['watch', 'withdraw'] as const)('is repaired as aborted: %s (P2, P9)', async (settlement) => {
    const { operations, store, pass, endRunning } = await aBrokenRollout();
    const answer = await operations.repair({ rolloutId: id, settlement, by: 'ann', reason: '' });
    expect(answer).toMatchObject({ kind: 'done', status: { state: 'aborted', recordUnreadable: null } });
    if (settlement === 'watch') await endRunning();
    for (let again = 0; again < 4; again += 1) await pass();
    expect(await store.loadRollout(id)).toMatchObject({ state: 'aborted', endedAt: startedAt });
    expect((await store.loadUpgrade(id, 2))?.progress.state).toBe(
      settlement === 'watch' ? 'succeeded' : 'unconfirmed',
    );
    expect(await store.activeRolloutIds(['production'])).toEqual([]);
    const again = await operations.repair({ rolloutId: id, settlement, by: 'ann', reason: '' });
    expect(again.kind).toBe('refused');
  });

  it.each(['pause', 'resume', 'approve', 'skipSoak', 'rollback', 'retry'] as const)(
    'refuses to %s, and says why',
    async (verb) => {
      const { operations, commands, keys } = await aBrokenRollout();
      expect(await operations.apply({ ...ask, ...namingNothing[verb] })).toMatchObject({
        kind: 'refused',
        refusal: { kind: 'recordUnreadable' },
      });
      expect(await commands.hget(keys.rollout, 'json')).toBe('{"id":"produ');
    },
  );

  it('is never written over but by its end: nobody holds a stratum of it, or changes it in passing', async () => {
    const { operations, parts, commands, keys } = await aBrokenRollout();
    expect(await operations.hold({ subject: 'all', by: 'ann', reason: 'noisy' })).toEqual({
      kind: 'unknown',
      reason: expect.stringContaining(`${id}: its record in Redis is unreadable`),
    });
    await changeRollout(parts, id, 'daemon', () => ({
      kind: 'held',
      at: startedAt,
      reason: because('late'),
    }));
    expect(await commands.hget(keys.rollout, 'json')).toBe('{"id":"produ');
  });

  it('goes on where it stood once somebody has repaired it by hand (P11)', async () => {
    const { commands, keys, good, pass, store } = await aBrokenRollout();
    await pass();
    await commands.hset(keys.rollout, 'json', good);
    for (let again = 0; again < 3; again += 1) await pass();
    expect((await store.loadRollout(id))?.state).toBe('running');
    expect((await store.loadUpgrade(id, 3))?.progress.state).toBe('queued');
  });

  it('keeps its policy busy: no look for work begins another one, and nobody joins it (P1, P5)', async () => {
    const { parts, store, commands, keys } = await aBrokenRollout();
    expect(await scan(parts, policy, 'schedule')).toEqual({ kind: 'busy', rolloutId: id });
    expect(await scan(parts, policy, 'operator')).toEqual({ kind: 'busy', rolloutId: id });
    expect((await store.listRollouts(names)).map((each) => each.id)).toEqual([id]);
    expect(await commands.hget(keys.rollout, 'json')).toBe('{"id":"produ');
    const others = { policy: 'other', policies: names };
    expect(await claimedByOthers(store, others, aFleet(4))).toEqual(new Set([2, 3, 4]));
  });

  it('lets what was aborted before come to its end without a word', async () => {
    const { pass, endRunning, store } = await aBrokenRollout({ state: 'aborted' });
    for (let again = 0; again < 3; again += 1) await pass();
    await endRunning();
    for (let again = 0; again < 3; again += 1) await pass();
    expect(await store.loadRollout(id)).toMatchObject({ state: 'aborted', endedAt: startedAt });
    expect(await store.activeRolloutIds(['production'])).toEqual([]);
  });

  it('may be a rollback, and frees the place of that', async () => {
    const { operations, pass, endRunning, store } = await aBrokenRollout({
      kind: 'rollback',
      rollbackOf: 'production-20260301-1',
    });
    expect((await operations.rolloutStatus(id))?.kind).toBe('rollback');
    expect((await operations.apply({ ...ask, verb: 'abort' })).kind).toBe('done');
    for (let again = 0; again < 3; again += 1) await pass();
    await endRunning();
    for (let again = 0; again < 3; again += 1) await pass();
    expect(await store.activeRolloutIds(['production'])).toEqual([]);
  });

  it('is known without a policy in the config, too', async () => {
    const { commands, keyPrefix } = await aBrokenRollout();
    const store = makeRedisRolloutStore({ commands, keyPrefix });
    expect(await store.loadRollout(id)).toMatchObject({
      state: 'held',
      targetBuild,
      waves: [{ size: 2 }, { size: 2 }],
    });
  });

  it('is exported as far as it can be read, with its text', async () => {
    const { commands, keyPrefix, keys } = await aBrokenRollout();
    await commands.hset(keys.records, '3', '{');
    await commands.set(keys.groups, 'x');
    await commands.xadd(keys.events, '1-1', 'event', '{');
    const lines: RecordLine[] = [];
    for await (const line of exportRollout({ commands, keyPrefix }, id)) lines.push(line);
    expect(lines.filter(({ kind }) => kind === 'unreadable')).toEqual([
      { kind: 'unreadable', what: `rollout ${id}`, text: '{"id":"produ' },
      { kind: 'unreadable', what: `the groups of rollout ${id}`, text: 'x' },
      { kind: 'unreadable', what: `the record of collector 3 of rollout ${id}`, text: '{' },
      { kind: 'unreadable', what: `event 1-1 of rollout ${id}`, text: '{' },
    ]);
    expect(lines.filter(({ kind }) => kind === 'upgrade').length).toBe(3);
  });
});

describe('a kept rollout that cannot be read', () => {
  it('is told as far as it is known, and stops no look for work', async () => {
    const house = aHouse();
    const over = { state: 'succeeded', waves: [aWave({ state: 'passed' })] } as const;
    const old = aRollout(over);
    await house.store.freeze({ rollout: old, upgrades: [], groups: someGroups(), events: [] });
    const ended = { rollout: { ...old, rev: 2, endedAt: startedAt }, expectedRev: 1, events: [] };
    await house.store.saveRollout({ ...ended, brake: 'keep' }, null);
    await house.commands.hset(house.keys.rollout, 'json', '{');
    expect((await scan(partsWith(house), aPolicy(), 'schedule')).kind).toBe('started');
    expect((await house.store.listRollouts(['production'])).length).toBe(2);
    expect(house.told).toEqual([`rollout ${id}`]);
    expect(await house.store.loadRollout(id)).toMatchObject({ state: 'succeeded', targetBuild });
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
