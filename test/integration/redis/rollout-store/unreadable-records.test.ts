import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../../../src/base/steps.ts';
import { reconcile } from '../../../../src/orchestrator/lead/reconcile.ts';
import { makeOperations } from '../../../../src/orchestrator/operations/make-operations.ts';
import type { FleetRegister } from '../../../../src/orchestrator/ports/fleet-register.ts';
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
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import type { Rollout } from '../../../../src/rollout/model/rollout.ts';
import { type Upgrade, upgradeStates } from '../../../../src/rollout/model/upgrade.ts';
import { endUpgrade } from '../../../../src/rollout/upgrade/transitions.ts';
import { aFleetService } from '../../../support/builders/service-builders.ts';
import {
  aFleet,
  anApiBudgetStatus,
  anUpgrade,
  anUpgradingOne,
  aPolicy,
  aRollout,
  askedFor,
  aWave,
  aWaveRule,
  because,
  someGroups,
  startedAt,
  targetBuild,
} from '../../../support/builders.ts';
import { serving } from '../../../support/house.ts';
import { namingNothing } from '../../../support/night/as-shown.ts';
import { quietLead, quietParts } from '../../../support/quiet-parts.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { makeMemoryScanBook } from '../../../support/store/memory-scan-book.ts';
import {
  anyProgress,
  aPlan,
  findUpgrade,
  loadUpgrade,
  loadView,
  pendingOnes,
  rolloutChange,
  saveUpgrade,
} from '../../../support/store/store-changes.ts';

const redis = useRedis();
const id = 'production-20260302-1';
const policy = aPolicy({ waves: [aWaveRule({ name: 'canary' }), aWaveRule({ name: 'rest' })] });
const byAnn = { rolloutId: id, by: 'ann', reason: 'checked' } as const;

/** A store of its own, of which a test breaks what is kept. */
function aStore(policies: readonly Policy[] = []) {
  const { commands, keyPrefix } = redis.place();
  const reported: string[] = [];
  const broken = makeBrokenRecords(({ what }) => reported.push(what));
  const store = makeRedisRolloutStore({ commands, keyPrefix, broken, policies });
  const register = makeRedisFleetRegister({ commands, keyPrefix, broken });
  const keys = rolloutKeys(keyPrefix, id);
  const freeze = (upgrades: readonly Upgrade[], changes: Partial<Rollout> = {}) => {
    const rollout = aRollout({ waves: [aWave({ state: 'open', size: 3 })], ...changes });
    return store.freeze(aPlan(upgrades, { rollout }));
  };
  const breakRecord = (collectorId: number, text: string | Buffer = `{"collectorId":${collectorId}`) =>
    commands.hset(keys.records, String(collectorId), text);
  return { commands, keyPrefix, reported, broken, store, register, keys, freeze, breakRecord };
}

/** A daemon's parts on a store, and what a test does with them. */
function aDaemonOn({ store, register }: { readonly store: RolloutStore; readonly register: FleetRegister }) {
  const parts = {
    ...quietParts,
    ...quietLead,
    store,
    register,
    fleet: aFleetService(serving(() => aFleet(3))),
    scans: makeMemoryScanBook(),
    forecast: () => [],
    memory: { check: async () => 'store', stoppedRollout: () => undefined },
    queue: { deliver: async () => undefined, bringForward: async () => undefined },
  };
  const operations = makeOperations({
    ...parts,
    policies: ['production', 'other'],
    rollouts: [policy],
    readApiBudgetStatus: async () => anApiBudgetStatus(),
  });
  const pass = async (times = 4) => {
    for (let passed = 0; passed < times; passed += 1) await reconcile(parts, id, 1, 1_000);
  };
  const stateOf = async (collectorId: number) => (await findUpgrade(store, collectorId))?.progress.state;
  return { parts, operations, pass, stateOf };
}

describe('an unreadable record', () => {
  it('takes no slot from other collectors of its rollout', async () => {
    const { freeze, breakRecord, reported, ...house } = aStore();
    const { pass, stateOf } = aDaemonOn(house);
    await freeze(pendingOnes(3), { policy: aPolicy({ concurrency: 1 }) });
    await breakRecord(1);
    await pass();
    expect(await stateOf(2)).toBe('queued');
    expect(reported).toEqual([`the record of collector 1 of rollout ${id}`]);
  });

  it('keeps its collector in its rollout, so that no other rollout adds it (P1)', async () => {
    const { freeze, breakRecord, store, register } = aStore();
    await freeze(pendingOnes(3));
    await breakRecord(2);
    const { claimed } = await claimedByOthers({ store, ...quietParts }, 'other', [1, 2, 3]);
    expect(claimed).toEqual(new Set([1, 2, 3]));
    const { parts } = aDaemonOn({ store, register });
    const asked = { policy: aPolicy(), history: [], at: startedAt };
    await checkActive(parts, aPolicy(), id, makePlanMemory(parts, asked));
    expect((await store.loadRollout(id))?.waves[0]?.joined).toBe(0);
  });
});

const inShort = (upgrade: Upgrade) => {
  const words = upgradeWords(upgrade);
  return `${upgrade.identity.collectorId} ${upgrade.progress.state}${words === '' ? '' : `: ${words}`}`;
};

describe('corrupt records of running upgrades', () => {
  // Those before an end, and two ends.
  const states = upgradeStates.slice(0, 9);
  const bytes = { 'cut off': '{"collectorId":9', 'no text at all': Buffer.from([0xff, 0xfe, 0x00, 0x80]) };
  const domains = ['x', 'y'].map((label) => ({ label, cap: 5 }));
  const lane = { stratum: 0, timeZone: '', domains: [] };

  /** Each wave has one collector of each state; those of the second are from 100 on. */
  async function aMixedStore() {
    const house = aStore();
    const upgrades = [0, 1].flatMap((wave) =>
      states.map((state, index) =>
        anUpgrade(anyProgress(state, startedAt), {
          collectorId: wave * 100 + index,
          order: wave * 9 + index,
          wave,
          lane: 1,
          domains: [1],
        }),
      ),
    );
    const waves = ['canary', 'rest'].map((name) => aWave({ name, state: 'open', size: 9 }));
    const groups = someGroups({ lanes: [lane, { ...lane, domains: [1] }], domains });
    await house.store.freeze(aPlan(upgrades, { rollout: aRollout({ waves }), groups }));
    const breakAll = async (ids: readonly number[], text?: string | Buffer) => {
      for (const each of ids) await house.breakRecord(each, text);
      await house.store.loadUpgrades(id, ids);
    };
    const { operations } = aDaemonOn(house);
    const repair = (settlement: 'watch' | 'withdraw', collectorId?: number) =>
      operations.repair({ ...byAnn, settlement, ...(collectorId === undefined ? {} : { collectorId }) });
    const view = () => loadView(house.store);
    /** @returns all that can be read, which the counters have to add up to */
    const expectCounted = async () => {
      const all = await house.store.listUpgrades(id, { offset: 0, limit: 100 });
      const counted = parseCounters(Object.entries(await house.commands.hgetall(house.keys.counters)));
      expect(new Map(counted)).toEqual(new Map(runAtOnce(countPlan(all))));
      return all;
    };
    return { ...house, breakAll, repair, view, expectCounted };
  }

  it.each(Object.entries(bytes))(
    'are repaired by an operator, and the counters match again: %s (P9)',
    async (_name, text) => {
      const { breakAll, repair, expectCounted } = await aMixedStore();
      await breakAll([0, 1, 2, 3, 4, 5, 6], text);
      expect((await repair('watch')).kind).toBe('done');
      const all = await expectCounted();
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

  it('are repaired one by one, while the remaining ones count as running (P1, P2)', async () => {
    const { store, breakAll, repair, view, expectCounted } = await aMixedStore();
    await breakAll([1, 3, 5]);
    // Until then they hold their slots.
    expect(await view()).toMatchObject({ slotsTaken: 6, corruptUpgrades: [1, 3, 5] });
    expect((await repair('withdraw', 1)).kind).toBe('done');
    expect(await view()).toMatchObject({ corruptUpgrades: [3, 5], slotsTaken: 5 });
    expect((await repair('watch', 3)).kind).toBe('done');
    // No attempt is left: what is not on the build in the end is not created again. Its lane is unknown: all caps.
    expect((await store.loadUpgrades(id, [3])).upgrades[0]).toMatchObject({
      identity: { domains: [0, 1] },
      tally: { attempts: 2 },
      progress: { state: 'upgrading', taskId: null },
    });
    expect((await repair('watch', 5)).kind).toBe('done');
    await expectCounted();
    expect(await repair('watch', 7)).toMatchObject({ kind: 'refused' });
  });

  it('keep their readable parts; the event has their text, and who repaired them', async () => {
    const { store, commands, keys, breakAll, repair } = await aMixedStore();
    const text = ((await commands.hget(keys.records, '0')) ?? '').slice(0, -9);
    await breakAll([0], text);
    await repair('withdraw');
    expect((await findUpgrade(store, 0))?.identity.collectorName).toBe(
      anUpgrade({ state: 'pending' }).identity.collectorName,
    );
    const event = (await store.readEvents(id, { limit: 9 })).find(({ collectorId }) => collectorId === 0);
    expect(event).toMatchObject({ event: 'upgrade.withdrawn', collectorId: 0, wave: 'canary', by: 'ann' });
    expect(event?.reason).toContain('checked');
    expect(event?.reason).toContain(text);
  });

  it('are left alone when their upgrades have ended', async () => {
    const { commands, keys, breakAll, repair, view } = await aMixedStore();
    await breakAll([7, 8], '{');
    expect(await view()).not.toHaveProperty('corruptUpgrades');
    expect((await repair('watch')).kind).toBe('refused');
    expect(await commands.hmget(keys.records, '7', '8')).toEqual(['{', '{']);
  });

  it('continue when an operator has repaired them by hand', async () => {
    const { commands, keys, breakAll, view } = await aMixedStore();
    const text = (await commands.hget(keys.records, '3')) ?? '';
    await breakAll([3]);
    expect(await view()).toHaveProperty('corruptUpgrades');
    await commands.hset(keys.records, '3', text);
    expect(await view()).not.toHaveProperty('corruptUpgrades');
  });

  it('keep an aborted rollout open until they are repaired (P2, P9)', async () => {
    const { freeze, breakRecord, store, register } = aStore();
    await freeze(pendingOnes(3), { state: 'aborted' });
    await breakRecord(2);
    const { operations, pass } = aDaemonOn({ store, register });
    await pass();
    expect((await store.loadRollout(id))?.endedAt).toBe(null);
    const blockers = (await operations.rolloutStatus(id))?.blockers ?? [];
    expect(blockers.map(({ kind }) => kind)).toContain('recordsUnreadable');
    await operations.repair({ ...byAnn, settlement: 'watch' });
    await pass();
    expect((await store.loadRollout(id))?.endedAt).toBe(startedAt);
  });
});

describe('unreadable groups of a plan', () => {
  async function aBrokenPlan() {
    const { freeze, commands, keys, ...house } = aStore();
    await freeze(pendingOnes(3));
    const other = { id: 'other-20260302-1', policy: aPolicy({ name: 'other' }) };
    await freeze(pendingOnes(3, { rolloutId: other.id }), other);
    await commands.set(keys.groups, '{');
    // Another daemon, which has not read them before.
    const broken = makeBrokenRecords(({ what }) => house.reported.push(what));
    const store = makeRedisRolloutStore({ commands, keyPrefix: house.keyPrefix, broken });
    return { ...house, store, ...aDaemonOn({ ...house, store }) };
  }

  it('hold their rollout with the reason, and hide no rollout (P2, P14)', async () => {
    const { operations, pass, reported, stateOf } = await aBrokenPlan();
    await pass();
    const found = await operations.listRollouts();
    expect(found.map((status) => [status.id, status.state])).toEqual([
      [id, 'held'],
      ['other-20260302-1', 'running'],
    ]);
    expect(found[0]?.reason).toContain('are unreadable');
    expect(reported).toEqual([`the groups of rollout ${id}`]);
    expect(await stateOf(1)).toBe('pending');
  });
});

describe('a running rollout with an unreadable record of its own', () => {
  /** One upgraded, one just upgraded, two that wait in the second wave; and then somebody breaks it. */
  async function aBrokenRollout(
    changes: Partial<Rollout> = {},
    text: string | Buffer | null = '{"id":"produ',
  ) {
    const house = aStore([policy]);
    const { store, commands, keys } = house;
    const waves = [
      aWave({ name: 'canary', state: 'passed', size: 2 }),
      aWave({ name: 'rest', state: 'open', size: 2 }),
    ];
    const upgrades = [
      anUpgrade(anyProgress('succeeded', startedAt)),
      anUpgradingOne({}, { collectorId: 2 }),
      ...[3, 4].map((collectorId) => anUpgrade({ state: 'pending' }, { collectorId, wave: 1 })),
    ].map((each, order) => ({ ...each, identity: { ...each.identity, order } }));
    await house.freeze(upgrades, { policy, waves, ...changes });
    const good = (await commands.hget(keys.rollout, 'json')) ?? '';
    if (text === null) await commands.hdel(keys.rollout, 'json');
    else await commands.hset(keys.rollout, 'json', text);
    const daemon = aDaemonOn(house);
    /** The one that is just upgraded comes to its end. */
    const endRunning = async () => {
      const before = await loadUpgrade(store, 2);
      expect(before.progress.state).toBe('upgrading');
      const after = endUpgrade(before, 'succeeded', startedAt, because('on the build'));
      expect(await saveUpgrade(store, { before, after, events: [] })).toBe('saved');
    };
    const kept = () => commands.hget(keys.rollout, 'json');
    return { ...house, ...daemon, good, endRunning, kept };
  }

  it.each([
    ['cut off', '{"id":"produ'],
    ['no text at all', Buffer.from([0xff, 0xfe, 0x00, 0x80])],
    ['empty', ''],
    ['of another kind', '[1]'],
    ['of another rollout', JSON.stringify(aRollout({ id: 'production-20260302-9' }))],
    ['without its policy', JSON.stringify({ ...aRollout(), policy: { name: 'production' } })],
    ['not there', null],
  ])('stops no pass, and starts nothing: %s (P2, P3)', async (_name, text) => {
    const { pass, stateOf, reported } = await aBrokenRollout({}, text);
    await pass();
    expect([await stateOf(3), await stateOf(4)]).toEqual(['pending', 'pending']);
    expect(reported).toEqual([`rollout ${id}`]);
  });

  it('is shown as held, with the other known data, and what to do', async () => {
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

  it('still belongs to its account, while the marks beside it are readable (P5)', async () => {
    const accountMarks = [{ origin: 'https://api.example.com', accessIdHash: 'a1' }];
    const { store, commands, keys } = await aBrokenRollout({ accountMarks });
    expect((await store.loadRollout(id))?.accountMarks).toEqual(accountMarks);
    await commands.hset(keys.rollout, 'marks', 'none');
    expect((await store.loadRollout(id))?.accountMarks).toEqual([]);
  });

  it('can be aborted, and ends once no upgrade is running; its old text is in an event (P4, P9)', async () => {
    const { operations, store, commands, keys, pass, endRunning, stateOf } = await aBrokenRollout();
    const answer = await operations.apply({ ...byAnn, verb: 'abort' });
    expect(answer).toMatchObject({ kind: 'done', status: { state: 'aborted', recordUnreadable: null } });
    expect(await commands.hget(keys.rollout, 'brake')).toBe('1');
    await pass();
    expect([await stateOf(3), await stateOf(4)]).toEqual(['withdrawn', 'withdrawn']);
    expect((await store.loadRollout(id))?.endedAt).toBe(null);
    await endRunning();
    await pass();
    expect(await store.loadRollout(id)).toMatchObject({ state: 'aborted', endedAt: startedAt, targetBuild });
    expect(await store.activeRolloutIds(['production'])).toEqual([]);
    const events = await store.readEvents(id, { limit: 9 });
    expect(events.filter(({ event }) => event === 'rollout.aborted')).toMatchObject([
      { by: 'ann', reason: expect.stringContaining('{"id":"produ') },
    ]);
    expect(await operations.apply({ ...byAnn, verb: 'abort' })).toMatchObject({ kind: 'unchanged' });
  });

  it.each(['watch', 'withdraw'] as const)('is repaired as aborted: %s (P2, P9)', async (settlement) => {
    const { operations, store, pass, endRunning, stateOf } = await aBrokenRollout();
    const answer = await operations.repair({ ...byAnn, settlement });
    expect(answer).toMatchObject({ kind: 'done', status: { state: 'aborted', recordUnreadable: null } });
    if (settlement === 'watch') await endRunning();
    await pass();
    expect(await store.loadRollout(id)).toMatchObject({ state: 'aborted', endedAt: startedAt });
    expect(await stateOf(2)).toBe(settlement === 'watch' ? 'succeeded' : 'unconfirmed');
    expect(await store.activeRolloutIds(['production'])).toEqual([]);
    expect((await operations.repair({ ...byAnn, settlement })).kind).toBe('refused');
  });

  it.each(['pause', 'resume', 'approve', 'skipSoak', 'rollback', 'retry'] as const)(
    'refuses to %s, with the reason',
    async (verb) => {
      const { operations, kept } = await aBrokenRollout();
      expect(await operations.apply({ ...byAnn, ...namingNothing[verb] })).toMatchObject({
        kind: 'refused',
        refusal: { kind: 'recordUnreadable' },
      });
      expect(await kept()).toBe('{"id":"produ');
    },
  );

  it('is overwritten only when it ends: no hold of a stratum and no other change is written', async () => {
    const { operations, parts, kept } = await aBrokenRollout();
    expect(await operations.hold({ subject: 'all', by: 'ann', reason: 'noisy' })).toEqual({
      kind: 'unknown',
      why: expect.objectContaining({ kind: 'unreadableRollout', rolloutId: id }),
    });
    const held = { kind: 'held', at: startedAt, reason: askedFor('late') } as const;
    await changeRollout(parts, id, 'daemon', () => held);
    expect(await kept()).toBe('{"id":"produ');
  });

  it('continues when an operator has repaired it by hand (P11)', async () => {
    const { commands, keys, good, pass, store, stateOf } = await aBrokenRollout();
    await pass();
    await commands.hset(keys.rollout, 'json', good);
    await pass();
    expect((await store.loadRollout(id))?.state).toBe('running');
    expect(await stateOf(3)).toBe('queued');
  });

  it('keeps its policy busy: no scan starts another rollout, and no collector joins (P1, P5)', async () => {
    const { parts, store, kept } = await aBrokenRollout();
    for (const by of ['schedule', 'operator'] as const)
      expect(await scan(parts, policy, by)).toEqual({ kind: 'busy', rolloutId: id });
    expect((await store.listRollouts(['production', 'other'])).map((each) => each.id)).toEqual([id]);
    expect(await kept()).toBe('{"id":"produ');
    const { claimed } = await claimedByOthers({ store, ...quietParts }, 'other', [1, 2, 3, 4]);
    expect(claimed).toEqual(new Set([2, 3, 4]));
  });

  it('is exported as far as it is readable, with its text', async () => {
    const { commands, keyPrefix, keys } = await aBrokenRollout();
    await commands.hset(keys.records, '3', '{');
    await commands.set(keys.groups, 'x');
    await commands.hset(keys.attributes, 'plan', 'y');
    await commands.xadd(keys.events, '1-1', 'event', '{');
    const lines: RecordLine[] = [];
    for await (const line of exportRollout({ commands, keyPrefix }, id)) lines.push(line);
    expect(lines.filter(({ kind }) => kind === 'unreadable')).toEqual([
      { kind: 'unreadable', what: `rollout ${id}`, text: '{"id":"produ' },
      { kind: 'unreadable', what: `the groups of rollout ${id}`, text: 'x' },
      { kind: 'unreadable', what: `the attributes of rollout ${id}`, text: 'y' },
      { kind: 'unreadable', what: `the record of collector 3 of rollout ${id}`, text: '{' },
      { kind: 'unreadable', what: `event 1-1 of rollout ${id}`, text: '{' },
    ]);
    expect(lines.filter(({ kind }) => kind === 'upgrade').length).toBe(3);
  });
});

describe('an unreadable ended rollout', () => {
  it('is shown as far as it is known, and stops no scan', async () => {
    const { freeze, commands, keys, reported, store, register } = aStore();
    const over = { state: 'succeeded', waves: [aWave({ state: 'passed' })] } as const;
    await freeze([], over);
    await store.saveRollout(rolloutChange(aRollout(over), { endedAt: startedAt }), null);
    await commands.hset(keys.rollout, 'json', '{');
    const { parts } = aDaemonOn({ store, register });
    expect((await scan(parts, aPolicy(), 'schedule')).kind).toBe('started');
    expect((await store.listRollouts(['production'])).length).toBe(2);
    expect(reported).toEqual([`rollout ${id}`]);
    expect(await store.loadRollout(id)).toMatchObject({ state: 'succeeded', targetBuild });
  });
});

describe('an unreadable hold', () => {
  it('still applies, as far as its key names the subject (P5, P14)', async () => {
    const house = aStore();
    const good = { collectorId: 7, by: 'ann', reason: 'noisy', at: startedAt };
    await house.register.holdCollector(good);
    const key = `${house.keyPrefix}:{fleet}:holds`;
    await house.commands.hset(key, { 'collector:8': '{', 'build:19.1-1': 'x', 'collector:who': '{' });
    const unknown = { by: 'unknown', reason: 'its record is unreadable', at: 0 };
    expect(await house.register.holds()).toEqual({
      builds: [{ build: '19.1-1', ...unknown }],
      collectors: [{ collectorId: 8, ...unknown }, good],
    });
    expect(house.reported.toSorted()).toEqual([
      'the hold of build 19.1-1',
      'the hold of collector 8',
      'the hold of collector who',
    ]);
    expect(await house.register.releaseCollector(8)).toBe('released');
  });
});
