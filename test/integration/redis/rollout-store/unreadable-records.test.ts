import { describe, expect, it } from 'vitest';
import { reconcile } from '../../../../src/orchestrator/lead/reconcile.ts';
import { makeOperations } from '../../../../src/orchestrator/operations/make-operations.ts';
import type { FleetRegister } from '../../../../src/orchestrator/ports/fleet-register.ts';
import type { RolloutStore } from '../../../../src/orchestrator/ports/rollout-store.ts';
import { changeRollout } from '../../../../src/orchestrator/records/change-rollout.ts';
import { checkActive } from '../../../../src/orchestrator/scan/check-active.ts';
import { claimedByOthers, makePlanMemory } from '../../../../src/orchestrator/scan/read-plan.ts';
import { scan } from '../../../../src/orchestrator/scan/scan.ts';
import { runStep } from '../../../../src/orchestrator/step/run-step.ts';
import { exportRollout, type RecordLine } from '../../../../src/redis/rollout-store/export-rollout.ts';
import { rolloutKeys } from '../../../../src/redis/schema/rollout-keys.ts';
import { encodeRollout } from '../../../../src/redis/schema/stored-rollout.ts';
import { makeBrokenRecords } from '../../../../src/redis/schema/unreadable-records.ts';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import type { Upgrade, UpgradeState } from '../../../../src/rollout/model/upgrade.ts';
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
  type RolloutChanges,
  startedAt,
  targetBuild,
} from '../../../support/builders.ts';
import { serving } from '../../../support/house.ts';
import { namingNothing } from '../../../support/night/as-shown.ts';
import { quietLead, quietParts } from '../../../support/quiet-parts.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { aRedisRegister, aRedisStore } from '../../../support/redis/redis-adapters.ts';
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
  const store = aRedisStore({ commands, keyPrefix, broken, policies: () => policies });
  const register = aRedisRegister({ commands, keyPrefix, broken });
  const keys = rolloutKeys(keyPrefix, id);
  const freeze = (upgrades: readonly Upgrade[], changes: RolloutChanges = {}) => {
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
    fleet: aFleetService({
      ...serving(() => aFleet(3)),
      findCollector: async (text) => ({
        ok: true,
        value: aFleet(3).collectors.find(({ id: each }) => text === String(each)),
      }),
    }),
    scans: makeMemoryScanBook(),
    forecast: () => [],
    memory: { check: async () => 'store', stoppedRollout: () => undefined },
    queue: { deliver: async () => undefined, bringForward: async () => undefined },
  };
  const operations = makeOperations({
    ...parts,
    policies: () => ['production', 'other'],
    rollouts: () => [policy],
    readApiBudgetStatus: async () => anApiBudgetStatus(),
  });
  const pass = async (times = 4) => {
    for (let passed = 0; passed < times; passed += 1) await reconcile(parts, id, 1, 1_000);
  };
  const stateOf = async (collectorId: number) => (await findUpgrade(store, collectorId))?.progress.state;
  return { parts, operations, pass, stateOf };
}

async function exported(from: Parameters<typeof exportRollout>[0]): Promise<readonly RecordLine[]> {
  const lines: RecordLine[] = [];
  for await (const line of exportRollout(from, id)) lines.push(line);
  return lines;
}

describe('an unreadable record of an upgrade', () => {
  it('holds its rollout, which shows its key and what to do (P14, P16)', async () => {
    const { freeze, breakRecord, reported, keys, ...house } = aStore();
    const { operations, pass, stateOf } = aDaemonOn(house);
    await freeze(pendingOnes(3), { policy: aPolicy({ concurrency: 1 }) });
    await breakRecord(1);
    await pass();
    expect(await stateOf(2)).toBe('pending');
    const status = await operations.rolloutStatus(id);
    expect(status).toMatchObject({ state: 'held', verbs: ['resume', 'abort'] });
    for (const words of [`${keys.records} 1`, 'upwave export', 'abort'])
      expect(status?.reason).toContain(words);
    expect(status?.headline.needsPerson).toBe(true);
    expect((await operations.readEvents(id, 1))?.[0]).toMatchObject({
      ...{ event: 'rollout.held', reasonKind: 'recordsUnreadable' },
      reason: expect.stringContaining(`${keys.records} 1`),
    });
    expect(await operations.explain('1')).toMatchObject({
      explanations: [{ kind: 'unreadable', reason: expect.stringContaining(`${keys.records} 1`) }],
    });
    expect(reported).toEqual([`the record of collector 1 of rollout ${id}`]);
  });

  it('of a running upgrade is noticed when no daemon has reported its step in time', async () => {
    const { freeze, breakRecord, ...house } = aStore();
    const { parts } = aDaemonOn(house);
    await freeze([anUpgradingOne()]);
    await breakRecord(1);
    const later = { ...parts, clock: { now: () => startedAt + 3_600_000 } };
    await reconcile(later, id, 1, 1_000);
    expect((await house.store.loadRollout(id))?.reason).toMatchObject({ kind: 'recordsUnreadable' });
  });

  it('holds its rollout again after a resume, until it was restored by hand (P11)', async () => {
    const { freeze, breakRecord, commands, keys, ...house } = aStore();
    const { operations, pass, stateOf } = aDaemonOn(house);
    await freeze(pendingOnes(3));
    const good = (await commands.hget(keys.records, '1')) ?? '';
    await breakRecord(1);
    await pass();
    const resume = async () => {
      const hold = (await operations.rolloutStatus(id))?.hold ?? 0;
      await operations.apply({ ...byAnn, verb: 'resume', hold });
      await pass();
      return (await operations.rolloutStatus(id))?.state;
    };
    expect(await resume()).toBe('held');
    await commands.hset(keys.records, '1', good);
    expect(await resume()).toBe('running');
    expect(await stateOf(1)).toBe('queued');
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

describe('an aborted rollout with unreadable records of upgrades', () => {
  const bytes = { 'cut off': '{"collectorId":9', 'no text at all': Buffer.from([0xff, 0xfe, 0x00, 0x80]) };
  const { deadlineMs, verifyWithinMs } = aPolicy().upgrade;

  /** A collector in each of these states, whose records are broken; and one that is upgrading. */
  async function aBrokenOne(states: readonly UpgradeState[], text?: string | Buffer) {
    const house = aStore();
    const upgrades = [
      ...states.map((state, order) =>
        anUpgrade(anyProgress(state, startedAt), { collectorId: order + 1, order }),
      ),
      anUpgradingOne({}, { collectorId: 99, order: states.length }),
    ];
    await house.freeze(upgrades, { waves: [aWave({ state: 'open', size: upgrades.length })] });
    for (const [index] of states.entries()) await house.breakRecord(index + 1, text);
    const daemon = aDaemonOn(house);
    const ids = states.map((_state, index) => index + 1);
    await house.store.loadUpgrades(id, ids);
    await daemon.operations.apply({ ...byAnn, verb: 'abort' });
    await daemon.pass();
    const endRunning = async () => {
      const before = await loadUpgrade(house.store, 99);
      await saveUpgrade(house.store, {
        ...{ before, events: [] },
        after: endUpgrade(before, 'succeeded', startedAt, because('on the build')),
      });
      await daemon.pass();
    };
    const endedAt = async () => (await house.store.loadRollout(id))?.endedAt;
    const viewAt = () => loadView(house.store);
    return { ...house, ...daemon, endRunning, endedAt, viewAt };
  }

  it.each(Object.entries(bytes))(
    'ends once the others have ended, and frees its policy and collectors: %s (P1, P9)',
    async (_name, text) => {
      const { store, commands, keys, endRunning, endedAt } = await aBrokenOne(
        ['pending', 'retrying', 'succeeded'],
        text,
      );
      expect(await endedAt()).toBe(null);
      await endRunning();
      expect(await endedAt()).toBe(startedAt);
      expect(await store.activeRolloutIds(['production'])).toEqual([]);
      const { claimed } = await claimedByOthers({ store, ...quietParts }, 'other', [1, 2, 99]);
      expect(claimed).toEqual(new Set());
      // An export still has what was there.
      expect(await commands.hgetBuffer(keys.records, '1')).toEqual(Buffer.from(text));
    },
  );

  it.each(['queued', 'starting', 'upgrading', 'verifying', 'deferred'] as const)(
    'keeps its claims until a task of an upgrade that was %s must have ended (P1, P2)',
    async (state) => {
      const { operations, store, endRunning, endedAt, viewAt, parts } = await aBrokenOne([state]);
      await endRunning();
      expect(await endedAt()).toBe(null);
      const overAt = startedAt + deadlineMs + verifyWithinMs;
      expect((await operations.rolloutStatus(id))?.blockers).toMatchObject([
        { kind: 'watching', until: overAt },
        { kind: 'recordsUnreadable' },
      ]);
      const { claimed } = await claimedByOthers({ store, ...quietParts }, 'other', [1, 99]);
      expect(claimed).toEqual(new Set([1]));
      const view = { ...(await viewAt()), buildHold: null, rollback: null };
      expect(decide(view, overAt - 1)).toMatchObject({ actions: [], wakeAt: overAt });
      const step = async () =>
        (await runStep(parts, { rolloutId: id, collectorId: 1 }, new AbortController().signal)).job;
      expect(await step()).toBe('comeBack');
      const later = { ...parts, clock: { now: () => overAt } };
      await reconcile(later, id, 1, 1_000);
      expect(await endedAt()).toBe(overAt);
      expect(await step()).toBe('end');
      expect(await store.activeRolloutIds(['production'])).toEqual([]);
    },
  );

  it('is exported with the text of each', async () => {
    const { commands, keyPrefix, endRunning } = await aBrokenOne(['pending', 'succeeded'], '{');
    await endRunning();
    const lines = await exported({ commands, keyPrefix });
    expect(lines.filter(({ kind }) => kind === 'unreadable')).toEqual(
      [1, 2].map((each) => ({
        kind: 'unreadable',
        what: `the record of collector ${each} of rollout ${id}`,
        text: '{',
      })),
    );
  });
});

describe('unreadable groups of a plan', () => {
  async function aBrokenPlan() {
    const house = aStore();
    const { freeze, commands, keys } = house;
    await freeze(pendingOnes(3));
    const other = { id: 'other-20260302-1', policy: aPolicy({ name: 'other' }) };
    await freeze(pendingOnes(3, { rolloutId: other.id }), other);
    await commands.set(keys.groups, '{');
    // Another daemon, which has not read them before.
    const broken = makeBrokenRecords(({ what }) => house.reported.push(what));
    const store = aRedisStore({ commands, keyPrefix: house.keyPrefix, broken });
    return { ...house, store, ...aDaemonOn({ ...house, store }) };
  }

  it('hold their rollout with their key, and hide no rollout (P2, P14)', async () => {
    const { operations, pass, reported, stateOf, keys } = await aBrokenPlan();
    await pass();
    const found = await operations.listRollouts();
    expect(found.map((status) => [status.id, status.state])).toEqual([
      [id, 'held'],
      ['other-20260302-1', 'running'],
    ]);
    expect(found[0]?.reason).toContain(`is unreadable: ${keys.groups}.`);
    expect(reported).toEqual([`the groups of rollout ${id}`]);
    expect(await stateOf(1)).toBe('pending');
  });

  it('leave by an abort, and are exported as they are', async () => {
    const { operations, pass, store, commands, keyPrefix } = await aBrokenPlan();
    await pass();
    await operations.apply({ ...byAnn, verb: 'abort' });
    await pass();
    expect(await store.loadRollout(id)).toMatchObject({ state: 'aborted', endedAt: startedAt });
    const lines = await exported({ commands, keyPrefix });
    expect(lines).toContainEqual({ kind: 'unreadable', what: `the groups of rollout ${id}`, text: '{' });
  });
});

describe('unreadable attributes of a plan', () => {
  it('hold their rollout with their key once they are needed (P14)', async () => {
    const { freeze, commands, keys, ...house } = aStore();
    const { operations, pass } = aDaemonOn(house);
    await freeze(pendingOnes(3));
    await commands.hset(keys.attributes, 'plan', 'y');
    await house.store.loadAttributes(id);
    await pass();
    expect(await operations.rolloutStatus(id)).toMatchObject({
      state: 'held',
      reason: expect.stringContaining(keys.attributes),
    });
  });
});

describe('a running rollout with an unreadable record of its own', () => {
  /** One upgraded, one just upgraded, two that wait in the second wave; and then somebody breaks it. */
  async function aBrokenRollout(changes: RolloutChanges = {}, text: string | Buffer | null = '{"id":"produ') {
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
    ['of another rollout', encodeRollout(aRollout({ id: 'production-20260302-9' }))],
    [
      'without its policy',
      JSON.stringify({ ...JSON.parse(encodeRollout(aRollout())), policy: { name: 'production' } }),
    ],
    ['not there', null],
  ])('stops no pass, and starts nothing: %s (P2, P3)', async (_name, text) => {
    const { pass, stateOf, reported } = await aBrokenRollout({}, text);
    await pass();
    expect([await stateOf(3), await stateOf(4)]).toEqual(['pending', 'pending']);
    expect(reported).toEqual([`rollout ${id}`]);
  });

  it('is shown as held, with the other known data, and what to do', async () => {
    const { operations, keys } = await aBrokenRollout();
    const status = await operations.rolloutStatus(id);
    expect(status).toMatchObject({
      id,
      policy: 'production',
      state: 'held',
      reason: expect.stringContaining(`${keys.rollout} json`),
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
    expect(await operations.listHolds()).toEqual({ builds: [], collectors: [], groups: [], strata: [] });
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

  it('can be aborted, and ends once no upgrade is running; an export has its old text (P4, P9)', async () => {
    const { operations, store, commands, keyPrefix, keys, pass, endRunning, stateOf } =
      await aBrokenRollout();
    const answer = await operations.apply({ ...byAnn, verb: 'abort' });
    expect(answer).toMatchObject({ kind: 'done', status: { state: 'aborted', recordUnreadable: null } });
    expect(await commands.hget(keys.rollout, 'brake')).toBe('1');
    await pass();
    expect([await stateOf(3), await stateOf(4)]).toEqual(['withdrawn', 'withdrawn']);
    expect((await store.loadRollout(id))?.endedAt).toBe(null);
    await endRunning();
    await pass();
    expect(await store.loadRollout(id)).toMatchObject({
      state: 'aborted',
      endedAt: startedAt,
      plan: { targetBuild },
    });
    expect(await store.activeRolloutIds(['production'])).toEqual([]);
    const events = await store.readEvents(id, { limit: 9 });
    expect(events.filter(({ event }) => event === 'rollout.aborted')).toMatchObject([
      { by: 'ann', reason: 'checked' },
    ]);
    expect(await exported({ commands, keyPrefix })).toContainEqual({
      ...{ kind: 'unreadable', what: `rollout ${id}`, text: '{"id":"produ' },
    });
    expect(await operations.apply({ ...byAnn, verb: 'abort' })).toMatchObject({ kind: 'unchanged' });
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

  it('continues when an operator has restored it by hand (P11)', async () => {
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
    const lines = await exported({ commands, keyPrefix });
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
    expect(await store.loadRollout(id)).toMatchObject({ state: 'succeeded', plan: { targetBuild } });
  });
});

describe('an unreadable hold', () => {
  it('still applies, as far as its key names the subject (P5, P14)', async () => {
    const house = aStore();
    const good = { collectorId: 7, by: 'ann', reason: 'noisy', at: startedAt };
    await house.register.holdCollector(good);
    const key = `${house.keyPrefix}:{fleet}:holds`;
    const broken = {
      'collector:8': '{',
      'build:19.1-1': 'x',
      'collector:who': '{',
      'group:osName=AIX': '{',
      'group:who': '{',
    };
    await house.commands.hset(key, broken);
    const unknown = { by: 'unknown', reason: 'its record is unreadable', at: 0 };
    expect(await house.register.holds()).toEqual({
      builds: [{ build: '19.1-1', ...unknown }],
      collectors: [{ collectorId: 8, ...unknown }, good],
      groups: [{ label: 'osName=AIX', attributes: [{ key: 'osName', value: 'AIX' }], ...unknown }],
    });
    expect(house.reported.toSorted()).toEqual([
      'the hold of build 19.1-1',
      'the hold of collector 8',
      'the hold of collector who',
      'the hold of group osName=AIX',
      'the hold of group who',
    ]);
    expect(await house.register.releaseCollector(8)).toBe('released');
  });
});
