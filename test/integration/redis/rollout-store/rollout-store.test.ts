import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { runAtOnce } from '../../../../src/base/steps.ts';
import type { FrozenPlan, RolloutStore } from '../../../../src/orchestrator/ports/rollout-store.ts';
import { listAllUpgrades } from '../../../../src/orchestrator/records/read-records.ts';
import type { RedisCommands } from '../../../../src/redis/connection/connection.ts';
import { exportRollout } from '../../../../src/redis/rollout-store/export-rollout.ts';
import { rolloutKeys } from '../../../../src/redis/schema/rollout-keys.ts';
import { makeBrokenRecords } from '../../../../src/redis/schema/unreadable-records.ts';
import { joinTables, tabulateAttributes } from '../../../../src/rollout/model/attributes.ts';
import type { Rollout, StoredView } from '../../../../src/rollout/model/rollout.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import {
  aCollector,
  anUpgrade,
  aRollout,
  aWave,
  because,
  type RolloutChanges,
  someGroups,
  startedAt,
} from '../../../support/builders.ts';
import { dyingCommands, echoingCommands, onScripts } from '../../../support/echoing-commands.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { aRedisStore } from '../../../support/redis/redis-adapters.ts';
import { countingStore } from '../../../support/store/counting-store.ts';
import {
  admitted,
  anEvent,
  anyProgress,
  aPlan,
  changeTo,
  ended,
  findUpgrade,
  intended,
  loadUpgrade,
  loadView,
  pendingOnes,
  range,
  rolloutChange,
  saveUpgrade,
} from '../../../support/store/store-changes.ts';
import { aVerifyingOne } from '../../../support/upgrade-cases.ts';

const redis = useRedis();
const hourMs = 3_600_000;
const rolloutId = 'production-20260302-1';

let connection: ReturnType<typeof redis.place>;
let keyPrefix: string;
let store: RolloutStore;

beforeEach(() => {
  connection = redis.place();
  keyPrefix = connection.keyPrefix;
  store = anotherStore();
});

describe('freezing a plan', () => {
  it('answers busy while the policy has an active rollout, and leaves nothing behind', async () => {
    await freeze(pendingOnes(2));
    const second = aRollout({ id: 'production-20260302-2' });
    const keysBefore = await keysOfPrefix();
    expect(await freeze(pendingOnes(2, { rolloutId: second.id }), second)).toBe('busy');
    expect(await freeze(pendingOnes(3))).toBe('busy');
    expect(await keysOfPrefix()).toEqual(keysBefore);
    expect(await store.loadRollout(second.id)).toBeUndefined();
  });

  it('lets one of many daemons win', async () => {
    const daemons = Array.from({ length: 4 }, () => anotherStore());
    const answers = await Promise.all(
      daemons.map((daemon, index) =>
        freeze(pendingOnes(700 + index), aRollout({ startedBy: `daemon ${index}` }), daemon),
      ),
    );
    expect(answers.filter((answer) => answer === 'frozen')).toHaveLength(1);
    const winner = answers.indexOf('frozen');
    expect((await store.loadRollout(rolloutId))?.startedBy).toBe(`daemon ${winner}`);
    expect((await viewNow()).waves[0]?.counts.pending).toBe(700 + winner);
    expect((await keysOfPrefix()).filter((key) => key.includes('staging'))).toEqual([]);
  });

  it('lets records that were never activated expire', async () => {
    const dying = storeOn(dyingCommands(connection.commands, ':active'));
    await expect(freeze(pendingOnes(3), aRollout(), dying)).rejects.toThrow('killed');
    const staged = (await keysOfPrefix()).filter((key) => key.includes('staging'));
    expect(staged.length).toBeGreaterThan(0);
    for (const key of staged) expect(await connection.commands.pttl(key)).toBeGreaterThan(0);
    expect(await store.activeRolloutIds(['production'])).toEqual([]);
    expect(await freeze(pendingOnes(3))).toBe('frozen');
    for (const key of Object.values(rolloutKeys(keyPrefix, rolloutId))) {
      if ((await connection.commands.exists(key)) === 1) expect(await connection.commands.pttl(key)).toBe(-1);
    }
  });

  it('finds the upgrades of one collector in the active rollouts of other policies', async () => {
    await freeze(pendingOnes(2));
    const other = aRollout({ id: 'other-20260302-1' });
    await freeze(pendingOnes(3, { rolloutId: other.id }), other);
    const broken = aRollout({ id: 'third-20260302-1' });
    await freeze(pendingOnes(3, { rolloutId: broken.id }), broken);
    await connection.commands.hset(rolloutKeys(keyPrefix, broken.id).records, '3', 'no JSON');
    const policies = ['other', 'third', 'none'];
    const found = await store.findUpgradesOf(policies, 3);
    expect(found.map(({ rolloutId: id, upgrade }) => [id, upgrade?.identity.collectorId])).toEqual([
      [other.id, 3],
      [broken.id, undefined],
    ]);
    expect(await store.findUpgradesOf(policies, 9)).toEqual([]);
  });

  it('finds collectors by name, even several with one name, in a plan and among its late joiners', async () => {
    const named = pendingOnes(3).map((upgrade, index) => ({
      ...upgrade,
      identity: { ...upgrade.identity, collectorName: index === 0 ? 'web' : 'db' },
    }));
    await freeze(named);
    const idsOf = async (name: string) =>
      (await store.findNamed(rolloutId, name)).map(({ identity: { collectorId } }) => collectorId);
    expect(await idsOf('web')).toEqual([1]);
    expect(await idsOf('db')).toEqual([2, 3]);
    expect(await idsOf('DB')).toEqual([]);
  });

  it('numbers the rollouts of a day, from 1 each day', async () => {
    expect(await store.nextRolloutNumber('production', '20260302')).toBe(1);
    await freeze(pendingOnes(1));
    expect(await store.nextRolloutNumber('production', '20260302')).toBe(2);
    expect(await store.nextRolloutNumber('production', '20260303')).toBe(1);
    expect(await store.nextRolloutNumber('other', '20260302')).toBe(1);
  });
});

it('finds no rollout under a text that is not an id, such as a name', async () => {
  await freeze(pendingOnes(1));
  const at = { now: 0, overdueBefore: 0, pageSize: 1 };
  for (const id of ['production', '..%2f..', '%00', '__proto__', '-20260302-', '20260302-1']) {
    expect([id, await store.loadRollout(id)]).toEqual([id, undefined]);
    expect([id, await store.loadView(id, at)]).toEqual([id, undefined]);
  }
});

describe('saving a rollout', () => {
  beforeEach(() => freeze(pendingOnes(3)));

  describe('with many rollouts kept', () => {
    // Each of another day, oldest first, in turn of two policies.
    const kept = 16;
    const idOf = (index: number) =>
      `${index % 2 === 0 ? 'production' : 'other'}-20260${String(401 + index).padStart(3, '0')}-1`;
    const createdAtOf = (index: number) => startedAt + index * 1_000;
    const policies = ['production', 'other', 'none'];

    beforeEach(async () => {
      await saveRollout({ state: 'succeeded', endedAt: startedAt + 1 });
      for (let index = 0; index < kept; index += 1) {
        const rollout = aRollout({ id: idOf(index), createdAt: createdAtOf(index + 1) });
        await freeze(pendingOnes(1, { rolloutId: rollout.id }), rollout);
        // The last of `other` goes on.
        if (index === kept - 1) continue;
        const ending = rolloutChange(rollout, { state: 'succeeded', endedAt: startedAt });
        expect(await store.saveRollout(ending, null)).toBe('saved');
      }
    });

    it('lists the current rollouts, at a cost that does not grow with the history', async () => {
      let reads = 0;
      const commands = new Proxy(connection.commands, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name);
          if (name === 'hmget') reads += 1;
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
      const counted = storeOn(commands);
      expect((await counted.currentRollouts(policies)).map(({ id }) => id)).toEqual([
        idOf(kept - 1),
        idOf(kept - 2),
        idOf(kept - 3),
      ]);
      expect(reads).toBe(3);
    });

    it('pages through all of them, newest first, and skips or repeats none', async () => {
      const seen: string[] = [];
      let before: string | undefined;
      for (let page = 0; page < 20; page += 1) {
        const found = await store.pageRollouts(policies, { limit: 7, ...(before && { before }) });
        seen.push(...(found?.rollouts ?? []).map(({ id }) => id));
        if (found?.next === null) break;
        before = found?.next;
      }
      expect(seen).toEqual([...range(kept).map((index) => idOf(kept - index)), rolloutId]);
      expect(
        await store.pageRollouts(policies, { before: 'production-20200101-1', limit: 7 }),
      ).toBeUndefined();
      expect(await store.pageRollouts(policies, { before: 'production', limit: 7 })).toBeUndefined();
    });

    it('lists a rollback with its original rollout, and the reverse', async () => {
      const back = { rollback: { original: idOf(kept - 2) }, kind: 'rollback' } as const;
      const rollback = aRollout({ id: 'production-20260701-1', createdAt: createdAtOf(kept + 1), ...back });
      await freeze(pendingOnes(1, { rolloutId: rollback.id }), rollback);
      const ids = (await store.currentRollouts(['production'])).map(({ id }) => id);
      expect(ids).toEqual([rollback.id, idOf(kept - 2)]);
    });
  });
});

describe('saving an upgrade', () => {
  beforeEach(() => freeze(pendingOnes(3)));

  it('is stale when Redis has gone back in time and another record has the same rev by now (P9)', async () => {
    const one = await load(1);
    // What a daemon wrote before Redis went back, and still knows.
    const lost = admitted(one);
    await saveUpgrade(store, ended(one, 'withdrawn', 0));
    expect(await saveUpgrade(store, intended(lost.after))).toBe('stale');
    expect(await viewNow()).toMatchObject({ slotsTaken: 0 });
  });

  it('accepts texts with a lone surrogate, and continues with their record (P9, P13)', async () => {
    const reason = 'asked for by ann: \ud83d, not \\ud83d, \ude00 but 😀';
    const before = await load(1);
    const retrying = changeTo(before, { state: 'retrying', dueAt: startedAt, reason: because(reason) });
    expect(await saveUpgrade(store, retrying)).toBe('saved');
    expect(await load(1)).toMatchObject({
      progress: { reason: because('asked for by ann: \ufffd, not \\ud83d, \ufffd but 😀') },
    });
    expect(await saveUpgrade(store, admitted(await load(1)))).toBe('saved');
  });

  it('counts durations by stratum, which a later daemon finds', async () => {
    const tookMs = 5 * 60_000;
    for (const id of [1, 2]) {
      const verifying = aVerifyingOne({ startedAt: startedAt + 60_000 - tookMs }).progress;
      await saveUpgrade(store, changeTo(await load(id), verifying));
      await saveUpgrade(store, ended(await load(id), 'succeeded', 0));
    }
    const { durations } = await loadView(anotherStore());
    expect([...durations.keys()]).toEqual([(await load(1)).identity.stratum]);
    expect([...durations.values()]).toMatchObject([{ count: 2 }]);
    const [{ medianMs = 0 } = {}] = durations.values();
    expect(medianMs / tookMs).toBeGreaterThan(0.9);
    expect(medianMs / tookMs).toBeLessThan(1.1);
  });
});

describe('the intent before a create', () => {
  beforeEach(() => freeze(pendingOnes(3)));

  it.each([-hourMs, hourMs])(
    'has its age by the clock of Redis, even when the clock of its daemon is %i ms off (P4)',
    async (offMs) => {
      const { intents } = rolloutKeys(keyPrefix, rolloutId);
      const sentAt = Date.now() + offMs;
      const change = changeTo(await load(1), { state: 'starting', sentAt, dueAt: sentAt, startBy: null });
      expect(await store.saveIntent(change, 1)).toBe('saved');
      expect(await store.countFreshIntents(rolloutId, hourMs / 2)).toBe(1);
      // A while later.
      await connection.commands.zincrby(intents, -hourMs, '1');
      expect(await store.countFreshIntents(rolloutId, hourMs / 2)).toBe(0);
      // A later change does not reset its age; a new intent does.
      const inDoubt = changeTo(change.after, { state: 'starting', sentAt, dueAt: sentAt + 1, startBy: null });
      expect(await saveUpgrade(store, inDoubt)).toBe('saved');
      expect(await store.countFreshIntents(rolloutId, hourMs / 2)).toBe(0);
      const again = changeTo(inDoubt.after, { state: 'starting', sentAt, dueAt: sentAt, startBy: null });
      expect(await store.saveIntent(again, 1)).toBe('saved');
      expect(await store.countFreshIntents(rolloutId, hourMs / 2)).toBe(1);
    },
  );

  it('uses up the pace once, by the clock of Redis, however often it is sent', async () => {
    const intent = async (id: number) => {
      const { after, ...change } = intended(await load(id));
      return { ...change, after: { ...after, tally: { ...after.tally, turnPaceMs: hourMs } } };
    };
    const doubled = storeOn(echoingCommands(connection.commands));
    expect((await loadView(store)).pacedForMs).toBe(0);
    expect(await doubled.saveIntent(await intent(1), 1)).toBe('saved');
    const { pacedForMs } = await loadView(store);
    expect(pacedForMs).toBeGreaterThan(hourMs - 60_000);
    expect(pacedForMs).toBeLessThanOrEqual(hourMs);
    expect(await doubled.saveIntent(await intent(2), 1)).toBe('saved');
    expect((await loadView(store)).pacedForMs).toBeGreaterThan(2 * hourMs - 60_000);
  });

  it('is saved again when the command is sent twice, but not under a brake set meanwhile', async () => {
    const doubled = storeOn(echoingCommands(connection.commands));
    expect(await doubled.saveIntent(intended(await load(1)), 1)).toBe('saved');
    const late = storeOn(echoingCommands(connection.commands, () => saveRollout({ state: 'paused' })));
    expect(await late.saveIntent(intended(await load(2)), 1)).toBe('braked');
    expect((await load(2)).progress.state).toBe('starting');
  });

  it('is saved for one of two daemons that write the same intent (P1)', async () => {
    const change = intended(await load(1));
    const answers = await Promise.all([store.saveIntent(change, 1), anotherStore().saveIntent(change, 1)]);
    expect(answers.sort()).toEqual(['saved', 'stale']);
  });
});

describe('admission', () => {
  it('exceeds neither the slots nor a cap, however many daemons admit at once (P2)', async () => {
    const wish = fc.uniqueArray(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 20 });
    const wishesOfDaemons = fc.array(wish, { minLength: 2, maxLength: 5 });
    const most = fc.integer({ min: 1, max: 9 });
    await fc.assert(
      fc.asyncProperty(most, most, wishesOfDaemons, async (slots, cap, wishes) => {
        newKeyPrefix();
        const upgrades = pendingOnes(20, { domains: [0] });
        await freeze(upgrades);
        const results = await Promise.all(
          wishes.map((ids) => {
            const changes = upgrades.filter((u) => ids.includes(u.identity.collectorId)).map(admitted);
            const domains = [{ label: 'all', cap }];
            return anotherStore().admit({ rolloutId, rolloutRev: 1, slots, domains, changes }, 1);
          }),
        );
        const expected = Math.min(slots, cap, new Set(wishes.flat()).size);
        expect((await viewNow()).slotsTaken).toBe(expected);
        const queued = await store.listUpgrades(rolloutId, { offset: 0, limit: 100, state: 'queued' });
        expect(queued).toHaveLength(expected);
        expect(new Set(results.flat())).toEqual(new Set(queued.map((u) => u.identity.collectorId)));
      }),
      { numRuns: 40 },
    );
  });

  it('throws for a domain that the plan does not have', async () => {
    await freeze(pendingOnes(1, { domains: [3] }));
    const admission = { rolloutId, rolloutRev: 1, slots: 5, domains: [], changes: [admitted(await load(1))] };
    await expect(store.admit(admission, 1)).rejects.toThrow(/collector 1 is in domain 3/);
  });
});

describe('the list of all upgrades in a state', () => {
  const total = 3_500;
  const succeeded = { endedAt: startedAt + 5, reason: because(''), weight: 0, lost: false } as const;

  it('reads each record once', async () => {
    const upgrades = range(total).map((collectorId) =>
      anUpgrade({ state: 'succeeded', ...succeeded }, { collectorId, order: collectorId }),
    );
    await freeze(upgrades);
    let read = 0;
    const hmget = (key: string, ...fields: string[]) => {
      read += fields.length;
      return connection.commands.hmget(key, ...fields);
    };
    const commands = Object.assign(Object.create(connection.commands), { hmget });

    const all = await listAllUpgrades(storeOn(commands), rolloutId, {
      state: 'succeeded',
    });

    expect(all).toEqual(upgrades);
    expect(read).toBe(total);
  });

  it('are complete, including those after a page of unreadable records', async () => {
    await freeze(pendingOnes(total));
    const { records } = rolloutKeys(keyPrefix, rolloutId);
    const broken = range(1_000).flatMap((collectorId) => [String(collectorId), 'no record']);
    await connection.commands.hset(records, ...broken);

    const all = await listAllUpgrades(store, rolloutId, { state: 'pending' });

    expect(all.map(({ identity: { collectorId } }) => collectorId)).toEqual(range(total).slice(1_000));
  });
});

describe('a new plan for a rollout that waits for approval', () => {
  const waiting = aRollout({ state: 'awaitingApproval' });
  const anew = aPlan(pendingOnes(700), { rollout: { ...waiting, rev: 2 } });
  beforeEach(() => freeze(pendingOnes(3), waiting));

  it('is saved when the command is sent again after the approval', async () => {
    const approve = () => saveRollout({ rev: 3 });
    const doubled = storeOn(echoingCommands(connection.commands, approve));
    expect(await doubled.replan(anew, 1)).toBe('saved');
    expect((await store.loadRollout(rolloutId))?.state).toBe('running');
    expect((await viewNow()).waves[0]?.counts.pending).toBe(700);
  });
});

it.each(['join', 'replan'] as const)('a refused %s leaves nothing behind', async (change) => {
  await freeze(pendingOnes(3), aRollout({ state: 'awaitingApproval' }));
  const rollout = aRollout({ state: 'awaitingApproval', rev: 2 });
  const plan = change === 'join' ? aPlan([joiner], { rollout }) : aPlan(pendingOnes(700), { rollout });
  const save = (rev: number) => (change === 'join' ? store.join(plan, rev, null) : store.replan(plan, rev));
  const keysBefore = await keysOfPrefix();
  expect(await save(9)).toBe('stale');
  expect(await keysOfPrefix()).toEqual(keysBefore);
  expect(await save(1)).toBe('saved');
  expect(await keysOfPrefix()).toEqual(keysBefore);
  for (const key of keysBefore.filter((each) => !each.includes(':number:')))
    expect(await connection.commands.pttl(key)).toBe(-1);
});

const joiner = anUpgrade({ state: 'pending' }, { collectorId: 9, order: 9 });
const joining = aPlan([joiner], { rollout: aRollout({ rev: 2 }) });

describe('the attributes of collectors', () => {
  const rack = (id: number, name: string) => {
    const { ids, columns } = runAtOnce(tabulateAttributes([aCollector({ id, fields: { rack: name } })]));
    return { ids, columns };
  };

  it('are stored with the plan and with late joiners', async () => {
    await store.freeze(aPlan(pendingOnes(1), { attributes: rack(1, 'r7 "ä"') }));
    expect(await store.join({ ...joining, attributes: rack(9, 'r8') }, 1, null)).toBe('saved');
    const table = await store.loadAttributes(rolloutId);
    expect(table).toEqual(joinTables([rack(1, 'r7 "ä"'), rack(9, 'r8')]));
    const exported = new Map<number, unknown>();
    for await (const line of exportRollout({ commands: connection.commands, keyPrefix }, rolloutId))
      if (line.kind === 'attributes') exported.set(line.collectorId, line.attributes['fields.rack']);
    expect(exported).toEqual(
      new Map([
        [1, 'r7 "ä"'],
        [9, 'r8'],
      ]),
    );
  });

  it('keep the order in which collectors joined, of which the first attributes count', async () => {
    const about = (name: string) => {
      const fields = { rack: name, [`of${name}`]: 'a value that is too long for the compact form of a hash' };
      const { ids, columns } = runAtOnce(tabulateAttributes([aCollector({ id: 9, fields })]));
      return { ids, columns };
    };
    const tables = Array.from({ length: 8 }, (_, index) => about(`r${7 - index}`));
    await store.freeze(aPlan(pendingOnes(1), tables[0] && { attributes: tables[0] }));
    for (const [index, attributes] of tables.entries()) {
      const rollout = aRollout({ rev: index + 1 });
      if (index > 0) await store.join({ ...joining, rollout, attributes }, index, null);
    }
    expect(await store.loadAttributes(rolloutId)).toEqual(joinTables(tables));
  });

  it('are an empty table where nothing is known of any collector', async () => {
    const attributes = { ids: [], columns: [] };
    await store.freeze(aPlan(pendingOnes(1), { attributes }));
    expect(await store.loadAttributes(rolloutId)).toEqual(attributes);
  });

  it('change with another plan', async () => {
    const waiting = aRollout({ state: 'awaitingApproval' });
    await store.freeze(aPlan([], { rollout: waiting, attributes: rack(1, 'r7') }));
    const anew = aPlan([], { rollout: { ...waiting, rev: 2 } });
    expect(await store.replan({ ...anew, attributes: rack(2, 'r8') }, 1)).toBe('saved');
    expect(await store.loadAttributes(rolloutId)).toEqual(rack(2, 'r8'));
  });

  it('are unknown where they are unreadable, which is reported', async () => {
    const broken = makeBrokenRecords(() => undefined);
    const reading = aRedisStore({ commands: connection.commands, keyPrefix, broken });
    await freeze(pendingOnes(1));
    await connection.commands.hset(rolloutKeys(keyPrefix, rolloutId).attributes, 'plan', 'no table');
    expect(await reading.loadAttributes(rolloutId)).toBeUndefined();
    expect(broken.isKnown(`the attributes of rollout ${rolloutId}`)).toBe(true);
  });
});

describe('the members of a plan', () => {
  it('are read once for each change of the plan, by whichever daemon', async () => {
    const { store: commands, calls } = countingStore(connection.commands);
    const reader = aRedisStore({ commands, keyPrefix });
    await freeze(pendingOnes(2));
    for (const _reading of range(3)) expect(await reader.listMemberIds(rolloutId)).toEqual([1, 2]);
    expect(calls.get('zrange')).toBe(1);
    const rollout = aRollout({ rev: 2 });
    await store.join(aPlan(pendingOnes(3).slice(2), { rollout }), 1, null);
    for (const _reading of range(3)) expect(await reader.listMemberIds(rolloutId)).toEqual([1, 2, 3]);
    expect(calls.get('zrange')).toBe(2);
    await connection.commands.del(...Object.values(rolloutKeys(keyPrefix, rolloutId)));
    expect(await reader.listMemberIds(rolloutId)).toEqual([]);
  });
});

describe('late joiners', () => {
  beforeEach(() => freeze(pendingOnes(3)));

  it('expire when they were never used', async () => {
    const daemon = storeOn(dyingCommands(connection.commands, ':groups'));
    await expect(daemon.join(joining, 1, null)).rejects.toThrow('killed');
    const staged = (await keysOfPrefix()).filter((key) => key.includes('staging'));
    expect(staged).toHaveLength(1);
    expect(await connection.commands.pttl(staged[0] ?? '')).toBeGreaterThan(0);
    expect(await findUpgrade(store, 9)).toBeUndefined();
  });

  it('are saved when the command is sent again after another change', async () => {
    const pause = () => saveRollout({ state: 'paused', rev: 3 });
    const doubled = storeOn(echoingCommands(connection.commands, pause));
    expect(await doubled.join(joining, 1, null)).toBe('saved');
    expect((await store.loadRollout(rolloutId))?.state).toBe('paused');
  });

  it('are not created again by a repeated command after they have changed', async () => {
    const doubled = storeOn(
      echoingCommands(connection.commands, async () => {
        const before = await findUpgrade(store, 9);
        if (before?.progress.state === 'pending') await saveUpgrade(store, ended(before, 'failed', 1));
      }),
    );
    expect(await doubled.join(joining, 1, null)).toBe('saved');
    expect((await load(9)).progress.state).toBe('failed');
    expect((await viewNow()).waves[0]?.counts).toMatchObject({ pending: 3, failed: 1 });
  });
});

describe('places', () => {
  it.each([{ order: 1_000_000 }, { lane: 1_000_000 }, { wave: 1_000 }, { order: -1 }, { lane: 0.5 }])(
    'beyond exact numbers are refused: %o',
    async (place) => {
      await expect(freeze(pendingOnes(1, place))).rejects.toThrow(/collector 1 is at place/);
      await freeze(pendingOnes(1));
      const upgrades = pendingOnes(1, place);
      await expect(store.join({ ...joining, upgrades }, 1, null)).rejects.toThrow(/collector 1 is at place/);
    },
  );

  it('up to the last one are exact', async () => {
    const last = { order: 999_999, lane: 999_999, wave: 999 };
    const waves = Array.from({ length: 1_000 }, () => aWave());
    const upgrades = pendingOnes(3, (index) => ({ ...last, order: last.order - index }));
    await freeze(upgrades, aRollout({ waves }));
    const pending = [3, 2, 1].map((id) => ({ collectorId: id, order: last.order - id + 1 }));
    expect((await viewNow()).candidates).toEqual([{ lane: last.lane, retries: [], pending }]);
    const listed = await store.listUpgrades(rolloutId, { offset: 0, limit: 9, wave: 999 });
    expect(listed.map(({ identity: { collectorId } }) => collectorId)).toEqual([3, 2, 1]);
  });
});

describe('more lanes than fit one view', () => {
  it('wait until others are empty, and block no later wave', async () => {
    const tooMany = 5_002;
    const upgrades = pendingOnes(tooMany + 2, (index) =>
      index < tooMany ? { lane: index } : { wave: 1, lane: index === tooMany ? 3 : 5_001 },
    );
    const waves = [aWave({ state: 'passed' }), aWave()];
    await freeze(upgrades, aRollout({ waves }));
    const { candidates } = await viewNow();
    expect(candidates.map(({ lane }) => lane)).toEqual([...Array(5_000).keys(), 5_001]);
    expect(candidates.filter(({ pending }) => pending.length > 1).map(({ lane }) => lane)).toEqual([3]);
    expect(candidates.at(-1)?.pending).toEqual([{ collectorId: tooMany + 2, order: tooMany + 2 }]);
  });
});

describe('groups', () => {
  it('are sent once to a daemon that reads often, and again after a change', async () => {
    const sent: string[] = [];
    const listening = onScripts(connection.commands, async (send) => {
      const reply = await send();
      if (Array.isArray(reply)) sent.push(String(reply[9]));
      return reply;
    });
    const daemon = storeOn(listening);
    const at = { now: 0, overdueBefore: 0, pageSize: 1 };
    await freeze(pendingOnes(1));
    for (const _look of [1, 2]) expect((await daemon.loadView(rolloutId, at))?.groups).toEqual(someGroups());
    // The same words of hash and rev: it is the write that counts.
    const groups = someGroups({ domains: [{ label: 'a', cap: 1 }] });
    await store.join({ ...joining, upgrades: [], groups }, 1, null);
    for (const _look of [1, 2]) expect((await daemon.loadView(rolloutId, at))?.groups).toEqual(groups);
    expect(sent.map((text) => text.length > 0)).toEqual([true, false, true, false]);
  });
});

describe('the keys of a rollout that is over', () => {
  const over = rolloutChange(aRollout(), { state: 'succeeded', endedAt: startedAt });
  beforeEach(async () => {
    await freeze(pendingOnes(2));
    await store.saveRollout({ ...over, events: [anEvent('rollout.succeeded')] }, null);
  });
  const livesOf = async () => {
    const keys = (await keysOfPrefix()).filter((key) => key.includes(rolloutId));
    return Promise.all(keys.map((key) => connection.commands.pttl(key)));
  };

  it('expire, including those that are added later', async () => {
    const before = (await keysOfPrefix()).length;
    const retried = changeTo(await load(1), { state: 'retrying', dueAt: startedAt, reason: because('') });
    expect(await saveUpgrade(store, retried)).toBe('saved');
    expect((await keysOfPrefix()).length).toBeGreaterThan(before);
    expect((await livesOf()).every((leftMs) => leftMs > 0)).toBe(true);
    const deferred = { ...joiner, progress: anyProgress('deferred', 1) };
    const late = aPlan([deferred], { rollout: { ...over.rollout, rev: 3 } });
    expect(await store.join(late, 2, null)).toBe('saved');
    expect((await livesOf()).every((leftMs) => leftMs > 0)).toBe(true);
  });

  it('remain when it continues', async () => {
    const again = rolloutChange(over.rollout, { state: 'running', endedAt: null });
    expect(await store.saveRollout(again, null)).toBe('saved');
    expect(await livesOf()).toEqual((await livesOf()).map(() => -1));
    expect(await store.activeRolloutIds(['production'])).toEqual([rolloutId]);
  });
});

/** With the groups that most of these tests need none of. */
function freeze(
  upgrades: FrozenPlan['upgrades'],
  rollout: Rollout = aRollout(),
  at: RolloutStore = store,
): Promise<'frozen' | 'busy'> {
  return at.freeze(aPlan(upgrades, { rollout }));
}

function viewNow(): Promise<StoredView> {
  return loadView(store);
}

function load(collectorId: number): Promise<Upgrade> {
  return loadUpgrade(store, collectorId);
}

function saveRollout(changes: RolloutChanges) {
  const { rev = 2, ...more } = changes;
  return store.saveRollout(rolloutChange(aRollout({ rev: rev - 1 }), more), null);
}

function newKeyPrefix(): void {
  keyPrefix = redis.config().keyPrefix;
  store = anotherStore();
}

function anotherStore(): RolloutStore {
  return storeOn(connection.commands);
}

function storeOn(commands: RedisCommands): RolloutStore {
  return aRedisStore({ commands, keyPrefix });
}

async function keysOfPrefix(): Promise<readonly string[]> {
  return (await connection.commands.keys(`${keyPrefix}:*`)).sort();
}
