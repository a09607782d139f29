import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FrozenPlan, RolloutStore } from '../../../../src/orchestrator/ports/rollout-store.ts';
import { listAllUpgrades } from '../../../../src/orchestrator/records/read-records.ts';
import type { RedisConnection } from '../../../../src/redis/connection/connection.ts';
import { makeRedisRolloutStore } from '../../../../src/redis/rollout-store/rollout-store.ts';
import { rolloutKeys } from '../../../../src/redis/schema/rollout-keys.ts';
import { makeBrokenRecords } from '../../../../src/redis/schema/unreadable-records.ts';
import type { RolloutEvent } from '../../../../src/rollout/model/events.ts';
import { noGroups } from '../../../../src/rollout/model/plan-groups.ts';
import type { Rollout, StoredView } from '../../../../src/rollout/model/rollout.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { anUpgrade, aRollout, aWave, because, someGroups, startedAt } from '../../../support/builders.ts';
import { dyingCommands, echoingCommands, onScripts } from '../../../support/echoing-commands.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import {
  admitted,
  anEvent,
  changeTo,
  ended,
  intended,
  pendingOnes,
  range,
} from '../../../support/store/store-changes.ts';

const redis = useRedis();
const hourMs = 3_600_000;
const rolloutId = 'production-20260302-1';

let connection: RedisConnection;
let keyPrefix: string;
let store: RolloutStore;

beforeEach(() => {
  connection ??= redis.connect();
  keyPrefix = redis.config().keyPrefix;
  store = makeRedisRolloutStore({ commands: connection.commands, keyPrefix });
});

describe('freezing a plan', () => {
  it('makes the rollout the active one of its policy, with its records in plan order', async () => {
    const upgrades = pendingOnes(5);
    expect(await freeze(store, aRollout(), upgrades.toReversed(), [anEvent('rollout.running')])).toBe(
      'frozen',
    );
    expect(await store.activeRolloutIds(['production', 'other'])).toEqual([rolloutId]);
    expect(await store.loadRollout(rolloutId)).toEqual(aRollout());
    expect(await store.listUpgrades(rolloutId, { offset: 0, limit: 10 })).toEqual(upgrades);
    expect(await store.readEvents(rolloutId, { limit: 10 })).toEqual([anEvent('rollout.running')]);
    expect(await viewNow()).toMatchObject({
      slotsTaken: 0,
      candidates: [{ lane: 0, retries: [], pending: range(5).map((id) => ({ collectorId: id, order: id })) }],
    });
  });

  it('counts what a plan rebuilt from the service has begun already (P11)', async () => {
    const running = anUpgrade(
      { state: 'starting', sentAt: startedAt, dueAt: startedAt, startBy: null },
      { collectorId: 2 },
    );
    const lost = anUpgrade(
      { state: 'unconfirmed', endedAt: startedAt + 5, reason: because(''), weight: 3, lost: true },
      { collectorId: 3, firstStartedAt: startedAt },
    );
    await freeze(store, aRollout(), [anUpgrade({ state: 'pending' }), running, lost], []);
    const view = await viewNow();
    expect(view.slotsTaken).toBe(1);
    expect(view.waves[0]).toMatchObject({ weight: 3, lost: 1, lastChangeAt: startedAt + 5 });
    expect(view.waves[0]?.counts).toMatchObject({ pending: 1, starting: 1, unconfirmed: 1 });
    expect(await store.countFreshIntents(rolloutId, hourMs)).toBe(1);
  });

  it('answers busy while the policy has an active rollout, and leaves nothing of its own behind', async () => {
    await freeze(store, aRollout(), pendingOnes(2), []);
    const second = aRollout({ id: 'production-20260302-2' });
    const keysBefore = await keysOfPrefix();
    expect(await freeze(store, second, pendingOnes(2, { rolloutId: second.id }), [])).toBe('busy');
    expect(await freeze(store, aRollout(), pendingOnes(3), [])).toBe('busy');
    expect(await keysOfPrefix()).toEqual(keysBefore);
    expect(await store.loadRollout(second.id)).toBeUndefined();
  });

  it('lets one of many daemons win', async () => {
    const daemons = Array.from({ length: 4 }, () => anotherStore());
    const answers = await Promise.all(
      daemons.map((daemon, index) =>
        freeze(daemon, aRollout({ startedBy: `daemon ${index}` }), pendingOnes(700 + index), []),
      ),
    );
    expect(answers.filter((answer) => answer === 'frozen')).toHaveLength(1);
    const winner = answers.indexOf('frozen');
    expect((await store.loadRollout(rolloutId))?.startedBy).toBe(`daemon ${winner}`);
    expect((await viewNow()).waves[0]?.counts.pending).toBe(700 + winner);
    expect((await keysOfPrefix()).filter((key) => key.includes('staging'))).toEqual([]);
  });

  it('lets records that were never activated expire', async () => {
    const dying = makeRedisRolloutStore({
      commands: dyingCommands(connection.commands, ':active'),
      keyPrefix,
    });
    await expect(freeze(dying, aRollout(), pendingOnes(3), [])).rejects.toThrow('killed');
    const staged = (await keysOfPrefix()).filter((key) => key.includes('staging'));
    expect(staged.length).toBeGreaterThan(0);
    for (const key of staged) expect(await connection.commands.pttl(key)).toBeGreaterThan(0);
    expect(await store.activeRolloutIds(['production'])).toEqual([]);
    expect(await freeze(store, aRollout(), pendingOnes(3), [])).toBe('frozen');
    for (const key of Object.values(rolloutKeys(keyPrefix, rolloutId))) {
      if ((await connection.commands.exists(key)) === 1) expect(await connection.commands.pttl(key)).toBe(-1);
    }
  });

  it('takes 10,000 collectors', async () => {
    const upgrades = pendingOnes(10_000, (index) => ({ wave: index < 100 ? 0 : 1 }));
    const rollout = aRollout({ waves: [aWave({ size: 100 }), aWave({ size: 9_900 })] });
    expect(await freeze(store, rollout, upgrades, [])).toBe('frozen');
    const view = await viewNow({ pageSize: 50 });
    expect(view.candidates[0]?.pending.map(({ collectorId }) => collectorId)).toEqual(range(50));
    expect(view.waves.map(({ counts }) => counts.pending)).toEqual([100, 9_900]);
    const page = await store.listUpgrades(rolloutId, { offset: 9_990, limit: 100 });
    expect(page).toEqual(upgrades.slice(9_990));
  });

  it('finds the upgrades of one collector in the active rollouts of other policies', async () => {
    await freeze(store, aRollout(), pendingOnes(2), []);
    const other = aRollout({ id: 'other-20260302-1' });
    await freeze(store, other, pendingOnes(3, { rolloutId: other.id }), []);
    const broken = aRollout({ id: 'third-20260302-1' });
    await freeze(store, broken, pendingOnes(3, { rolloutId: broken.id }), []);
    await connection.commands.hset(rolloutKeys(keyPrefix, broken.id).records, '3', 'no JSON');
    const policies = ['other', 'third', 'none'];
    const found = await store.findUpgradesOf(policies, 3);
    expect(found.map(({ rolloutId: id, upgrade }) => [id, upgrade?.identity.collectorId])).toEqual([
      [other.id, 3],
      [broken.id, undefined],
    ]);
    expect(await store.findUpgradesOf(policies, 9)).toEqual([]);
  });

  it('numbers the rollouts of a day, each day anew', async () => {
    expect(await store.nextRolloutNumber('production', '20260302')).toBe(1);
    await freeze(store, aRollout(), pendingOnes(1), []);
    expect(await store.nextRolloutNumber('production', '20260302')).toBe(2);
    expect(await store.nextRolloutNumber('production', '20260303')).toBe(1);
    expect(await store.nextRolloutNumber('other', '20260302')).toBe(1);
  });
});

describe('saving a rollout', () => {
  beforeEach(() => freeze(store, aRollout(), pendingOnes(3), []));

  it('refuses one that was made from an older one', async () => {
    expect(await saveRollout({ state: 'paused' })).toBe('saved');
    expect(await saveRollout({ state: 'held' })).toBe('stale');
    expect((await store.loadRollout(rolloutId))?.state).toBe('paused');
  });

  it('counts a save that is sent twice once', async () => {
    const echo = echoingCommands(connection.commands);
    const doubled = makeRedisRolloutStore({ commands: echo.commands, keyPrefix });
    const rollout = aRollout({ state: 'paused', rev: 2 });
    const events = [anEvent('rollout.paused')];
    expect(await doubled.saveRollout({ rollout, expectedRev: 1, events, brake: 'set' }, null)).toBe('saved');
    expect(await store.readEvents(rolloutId, { limit: 10 })).toEqual(events);
    // And a caller that tries the same again after a lost connection hears the same.
    expect(await store.saveRollout({ rollout, expectedRev: 1, events, brake: 'set' }, null)).toBe('saved');
    expect(await store.readEvents(rolloutId, { limit: 10 })).toEqual(events);
  });

  it('refuses a leader with an older fence, and takes a newer one', async () => {
    expect(await saveRollout({ rev: 2, reason: because('a') }, { expectedRev: 1, fence: 7 })).toBe('saved');
    expect(await saveRollout({ rev: 3, reason: because('b') }, { expectedRev: 2, fence: 6 })).toBe('stale');
    expect(await saveRollout({ rev: 3, reason: because('c') }, { expectedRev: 2, fence: 7 })).toBe('saved');
    // An operator has no fence, and needs none.
    expect(await saveRollout({ rev: 4, reason: because('d') }, { expectedRev: 3, fence: null })).toBe(
      'saved',
    );
    const admission = { rolloutId, rolloutRev: 4, slots: 9, domains: [], changes: [admitted(await load(1))] };
    expect(await store.admit(admission, 6)).toEqual([]);
    expect(await store.admit(admission, 8)).toEqual([1]);
  });

  it('ends it: the policy is free for the next one, and the ended one is kept for a while', async () => {
    expect(await saveRollout({ state: 'succeeded', endedAt: startedAt + 1, rev: 2 })).toBe('saved');
    expect(await store.activeRolloutIds(['production'])).toEqual([]);
    const next = aRollout({ id: 'production-20260302-2', createdAt: startedAt + 2 });
    expect(await freeze(store, next, pendingOnes(1, { rolloutId: next.id }), [])).toBe('frozen');
    expect((await store.listRollouts(['production', 'other'])).map(({ id }) => id)).toEqual([
      next.id,
      rolloutId,
    ]);
    const { rollout, records } = rolloutKeys(keyPrefix, rolloutId);
    for (const key of [rollout, records])
      expect(await connection.commands.ttl(key)).toBeGreaterThan(80 * 86_400);
    expect(await connection.commands.ttl(rolloutKeys(keyPrefix, next.id).rollout)).toBe(-1);
  });

  describe('with many rollouts kept', () => {
    // Each of another day, oldest first, in turn of two policies.
    const kept = 60;
    const idOf = (index: number) =>
      `${index % 2 === 0 ? 'production' : 'other'}-20260${String(401 + index).padStart(3, '0')}-1`;
    const createdAtOf = (index: number) => startedAt + index * 1_000;
    const policies = ['production', 'other', 'none'];

    beforeEach(async () => {
      await saveRollout({ state: 'succeeded', endedAt: startedAt + 1, rev: 2 });
      for (let index = 0; index < kept; index += 1) {
        const rollout = aRollout({ id: idOf(index), createdAt: createdAtOf(index + 1) });
        await freeze(store, rollout, pendingOnes(1, { rolloutId: rollout.id }), []);
        // The last of `other` goes on.
        if (index === kept - 1) continue;
        const ended = { ...rollout, state: 'succeeded', endedAt: startedAt, rev: 2 } as const;
        const change = { rollout: ended, expectedRev: 1, events: [], brake: 'keep' } as const;
        expect(await store.saveRollout(change, null)).toBe('saved');
      }
    });

    it('lists what is current, at a cost that does not grow with them', async () => {
      let reads = 0;
      const commands = new Proxy(connection.commands, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name);
          if (name === 'hmget') reads += 1;
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
      const counted = makeRedisRolloutStore({ commands, keyPrefix });
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

    it('lists with a rollback what it takes back, and the other way round', async () => {
      const back = { rollbackOf: idOf(kept - 2), kind: 'rollback' } as const;
      const rollback = aRollout({ id: 'production-20260701-1', createdAt: createdAtOf(kept + 1), ...back });
      await freeze(store, rollback, pendingOnes(1, { rolloutId: rollback.id }), []);
      const ids = (await store.currentRollouts(['production'])).map(({ id }) => id);
      expect(ids).toEqual([rollback.id, idOf(kept - 2)]);
    });
  });

  it('forgets rollouts whose keys have expired', async () => {
    await saveRollout({ state: 'succeeded', endedAt: startedAt + 1, rev: 2 });
    await connection.commands.del(rolloutKeys(keyPrefix, rolloutId).rollout);
    expect(await store.listRollouts(['production'])).toEqual([]);
    const later = startedAt + 100 * 86_400_000;
    const next = aRollout({ id: 'production-20260610-1', createdAt: later });
    await freeze(store, next, pendingOnes(1, { rolloutId: next.id }), []);
    expect(await connection.commands.zrange(`${keyPrefix}:{production}:rollouts`, '0', '-1')).toEqual([
      next.id,
    ]);
  });

  it('is stale for a rollout that is not there', async () => {
    const rollout = aRollout({ id: 'other-20260302-1' });
    expect(await store.saveRollout({ rollout, expectedRev: 1, events: [], brake: 'keep' }, null)).toBe(
      'stale',
    );
  });
});

describe('saving an upgrade', () => {
  beforeEach(() => freeze(store, aRollout(), pendingOnes(3), []));

  it('is stale when Redis has gone back and another record has the same rev by now (P9)', async () => {
    const one = await load(1);
    // What a daemon wrote before Redis went back, and still knows.
    const lost = admitted(one);
    await store.saveUpgrade(ended(one, 'withdrawn', 0), null);
    expect(await store.saveUpgrade(intended(lost.after), null)).toBe('stale');
    expect(await viewNow()).toMatchObject({ slotsTaken: 0 });
  });

  it('refuses one that was made from an older record', async () => {
    const change = admitted(await load(1));
    expect(await store.saveUpgrade(change, null)).toBe('saved');
    const rival = { ...change, after: { ...change.after, tally: { ...change.after.tally, failedPolls: 4 } } };
    expect(await store.saveUpgrade(rival, null)).toBe('stale');
    expect(await load(1)).toEqual(change.after);
  });

  it('counts a change that is sent twice once, and appends its events once', async () => {
    const echo = echoingCommands(connection.commands);
    const doubled = makeRedisRolloutStore({ commands: echo.commands, keyPrefix });
    const change = ended(await load(1), 'failed', 1);
    expect(await doubled.saveUpgrade(change, null)).toBe('saved');
    expect(echo.repeats()).toBe(1);
    // The caller that lost its connection tries again.
    expect(await store.saveUpgrade(change, null)).toBe('saved');
    expect((await viewNow()).waves[0]).toMatchObject({ weight: 1, lastChangeAt: startedAt + 60_000 });
    expect((await viewNow()).waves[0]?.counts).toMatchObject({ pending: 2, failed: 1 });
    expect(await store.readEvents(rolloutId, { limit: 10 })).toHaveLength(1);
  });

  it('sets the brake in the write whose failure exceeds what the wave may have', async () => {
    await store.saveUpgrade(ended(await load(1), 'failed', 1), 1);
    expect((await viewNow()).braked).toBe(false);
    await store.saveUpgrade(ended(await load(2), 'unconfirmed', 3), 1);
    const view = await viewNow();
    expect(view).toMatchObject({ braked: true, waves: [{ weight: 4, lost: 1 }] });
    expect(await store.saveIntent(intended(await load(3)), 1)).toBe('braked');
    expect(await store.admit({ ...admission(view), changes: [admitted(await load(3))] }, 1)).toEqual([]);
  });

  it('saves many in one write: those that changed meanwhile are left out, and each trips for itself', async () => {
    const [first, second, third] = [await load(1), await load(2), await load(3)];
    await store.saveUpgrade(admitted(second), null);
    const changes = [
      { ...ended(first, 'failed', 1), tripAbove: 1 },
      { ...ended(second, 'failed', 1), tripAbove: 0 },
      { ...ended(third, 'withdrawn', 0), tripAbove: null },
    ];
    let sent = 0;
    const commands = onScripts(connection.commands, (send) => {
      sent += 1;
      return send();
    });
    const counted = makeRedisRolloutStore({ commands, keyPrefix });
    expect(await counted.saveUpgrades(rolloutId, changes, {})).toEqual([1, 3]);
    expect(sent).toBe(1);
    const view = await viewNow();
    expect(view.braked).toBe(false);
    expect(view.waves[0]?.counts).toMatchObject({ failed: 1, queued: 1, withdrawn: 1, pending: 0 });
    expect(await store.readEvents(rolloutId, { limit: 10 })).toHaveLength(3);
    // Sent again after a lost connection, it changes nothing.
    expect(await store.saveUpgrades(rolloutId, changes, {})).toEqual([1, 3]);
    expect(await store.readEvents(rolloutId, { limit: 10 })).toHaveLength(3);
    const worse = [{ ...ended(await load(2), 'failed', 1), tripAbove: 1 }];
    expect(await store.saveUpgrades(rolloutId, worse, {})).toEqual([2]);
    expect((await viewNow()).braked).toBe(true);
  });

  it('saves none of many at another rev of the rollout, nor for a leader that was followed by another', async () => {
    const changes = [{ ...ended(await load(1), 'withdrawn', 0), tripAbove: null }];
    expect(await store.saveUpgrades(rolloutId, changes, { rolloutRev: 2, fence: 7 })).toEqual([]);
    expect(await store.saveUpgrades(rolloutId, changes, { rolloutRev: 1, fence: 6 })).toEqual([]);
    expect(await load(1)).toEqual(changes[0]?.before);
    expect(await store.saveUpgrades(rolloutId, changes, { rolloutRev: 1, fence: 7 })).toEqual([1]);
  });

  it('does not let the brake be lifted by who has not seen it', async () => {
    const before = await viewNow();
    await store.saveUpgrade(ended(await load(1), 'failed', 1), 0);
    const lift = { ...before.rollout, rev: before.rollout.rev + 1 };
    const change = { rollout: lift, expectedRev: before.rollout.rev, events: [], brake: 'lift' } as const;
    expect(await store.saveRollout(change, null)).toBe('stale');
    expect((await viewNow()).braked).toBe(true);
    const { rollout } = await viewNow();
    const seen = { rollout: { ...rollout, rev: rollout.rev + 1 }, expectedRev: rollout.rev, events: [] };
    expect(await store.saveRollout({ ...seen, brake: 'keep' }, null)).toBe('saved');
    expect((await viewNow()).braked).toBe(true);
  });

  it('does not brake again for what an operator has accepted, unless a failure is added', async () => {
    await store.saveUpgrade(ended(await load(1), 'failed', 1), 0);
    const { rollout } = await viewNow();
    const resumed = { rollout: { ...rollout, rev: rollout.rev + 1 }, expectedRev: rollout.rev, events: [] };
    expect(await store.saveRollout({ ...resumed, brake: 'lift' }, null)).toBe('saved');
    await store.saveUpgrade(ended(await load(2), 'succeeded', 0), 0);
    expect((await viewNow()).braked).toBe(false);
  });

  it('takes words with half of a character, and goes on with the record that has them (P9, P13)', async () => {
    const reason = 'asked for by ann: \ud83d, not \\ud83d, \ude00 but 😀';
    const before = await load(1);
    const retrying = changeTo(before, { state: 'retrying', dueAt: startedAt, reason: because(reason) });
    expect(await store.saveUpgrade(retrying, null)).toBe('saved');
    expect(await load(1)).toMatchObject({
      progress: { reason: because('asked for by ann: \ufffd, not \\ud83d, \ufffd but 😀') },
    });
    expect(await store.saveUpgrade(admitted(await load(1)), null)).toBe('saved');
  });

  it('tells clearly which record is broken', async () => {
    await connection.commands.hset(rolloutKeys(keyPrefix, rolloutId).records, '1', '{"rev":');
    await expect(load(1)).rejects.toThrow(/record of collector 1 of rollout production-20260302-1/);
    const change = admitted(anUpgrade({ state: 'pending' }));
    await expect(store.saveUpgrade(change, null)).rejects.toThrow(/record of collector 1 /);
    await connection.commands.hset(rolloutKeys(keyPrefix, rolloutId).rollout, 'json', '{"id":1}');
    expect(await store.loadRollout(rolloutId)).toMatchObject({
      state: 'held',
      unreadable: { kind: 'corrupt', text: '{"id":1}' },
    });
  });
});

describe('the intent before a create', () => {
  beforeEach(() => freeze(store, aRollout(), pendingOnes(3), []));

  it('is saved while the rollout runs, and counted until its answer is in', async () => {
    const change = intended(await load(1));
    expect(await store.saveIntent(change, 1)).toBe('saved');
    expect(await store.countFreshIntents(rolloutId, hourMs)).toBe(1);
    await store.saveUpgrade(ended(change.after, 'failed', 1), null);
    expect(await store.countFreshIntents(rolloutId, hourMs)).toBe(0);
  });

  it.each([-hourMs, hourMs])(
    'is as old as Redis says, also when its daemon is %i ms off (P4)',
    async (offMs) => {
      const { intents } = rolloutKeys(keyPrefix, rolloutId);
      const sentAt = Date.now() + offMs;
      const change = changeTo(await load(1), { state: 'starting', sentAt, dueAt: sentAt, startBy: null });
      expect(await store.saveIntent(change, 1)).toBe('saved');
      expect(await store.countFreshIntents(rolloutId, hourMs / 2)).toBe(1);
      // A while later.
      await connection.commands.zincrby(intents, -hourMs, '1');
      expect(await store.countFreshIntents(rolloutId, hourMs / 2)).toBe(0);
      // What is said of it meanwhile makes it no younger; another one does.
      const inDoubt = changeTo(change.after, { state: 'starting', sentAt, dueAt: sentAt + 1, startBy: null });
      expect(await store.saveUpgrade(inDoubt, null)).toBe('saved');
      expect(await store.countFreshIntents(rolloutId, hourMs / 2)).toBe(0);
      const again = changeTo(inDoubt.after, { state: 'starting', sentAt, dueAt: sentAt, startBy: null });
      expect(await store.saveIntent(again, 1)).toBe('saved');
      expect(await store.countFreshIntents(rolloutId, hourMs / 2)).toBe(1);
    },
  );

  it('is refused when the rollout is paused, also without a brake (P4)', async () => {
    await saveRollout({ state: 'paused' }, { brake: 'keep' });
    expect(await store.saveIntent(intended(await load(1)), 1)).toBe('braked');
    expect(await store.countFreshIntents(rolloutId, hourMs)).toBe(0);
  });

  it('is saved again when the command is sent twice, but not under a brake set meanwhile', async () => {
    const echo = echoingCommands(connection.commands);
    const doubled = makeRedisRolloutStore({ commands: echo.commands, keyPrefix });
    expect(await doubled.saveIntent(intended(await load(1)), 1)).toBe('saved');
    const paused = echoingCommands(connection.commands, () => saveRollout({ state: 'paused' }));
    const late = makeRedisRolloutStore({ commands: paused.commands, keyPrefix });
    expect(await late.saveIntent(intended(await load(2)), 1)).toBe('braked');
    expect((await load(2)).progress.state).toBe('starting');
  });

  it('is saved for one of two daemons that write the very same one (P1)', async () => {
    const change = intended(await load(1));
    const answers = await Promise.all([store.saveIntent(change, 1), anotherStore().saveIntent(change, 1)]);
    expect(answers.sort()).toEqual(['saved', 'stale']);
  });
});

describe('admission', () => {
  it('never gives more slots than there are, however many daemons admit at once (P2)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.uniqueArray(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 12 }), {
          minLength: 2,
          maxLength: 5,
        }),
        async (slots, wishes) => {
          newKeyPrefix();
          await freeze(store, aRollout(), pendingOnes(20), []);
          const { upgrades: records } = await store.loadUpgrades(rolloutId, range(20));
          const results = await Promise.all(
            wishes.map((ids) => {
              const changes = ids.flatMap((id) =>
                records.filter((u) => u.identity.collectorId === id).map(admitted),
              );
              return anotherStore().admit({ rolloutId, rolloutRev: 1, slots, domains: [], changes }, 1);
            }),
          );
          const wanted = new Set(wishes.flat()).size;
          expect((await viewNow()).slotsTaken).toBe(Math.min(slots, wanted));
          const queued = await store.listUpgrades(rolloutId, { offset: 0, limit: 100, state: 'queued' });
          expect(queued).toHaveLength(Math.min(slots, wanted));
          expect(new Set(results.flat())).toEqual(new Set(queued.map((u) => u.identity.collectorId)));
        },
      ),
      { numRuns: 25 },
    );
  });

  it('never exceeds a cap, however many daemons admit at once (P2)', async () => {
    const domains = [1, 2, 3].map((cap) => ({ label: `cap ${cap}`, cap }));
    const wish = fc.uniqueArray(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(fc.array(wish, { minLength: 2, maxLength: 5 }), async (wishes) => {
        newKeyPrefix();
        const upgrades = pendingOnes(20, (index) => ({ domains: index % 4 === 3 ? [1, 2] : [index % 4] }));
        await freeze(store, aRollout(), upgrades, []);
        const results = await Promise.all(
          wishes.map((ids) => {
            const changes = upgrades
              .filter(({ identity: { collectorId } }) => ids.includes(collectorId))
              .map(admitted);
            const admission = { rolloutId, rolloutRev: 1, slots: 20, domains, changes };
            return anotherStore().admit(admission, 1);
          }),
        );
        const inDomain = (domain: number, ids: readonly number[]) =>
          upgrades.filter((u) => u.identity.domains.includes(domain) && ids.includes(u.identity.collectorId))
            .length;
        const taken = [...new Set(results.flat())];
        const view = await viewNow();
        for (const [domain, { cap }] of domains.entries()) {
          expect(inDomain(domain, taken)).toBeLessThanOrEqual(cap);
          expect(view.domainsTaken.get(domain) ?? 0).toBe(inDomain(domain, taken));
        }
        // The first domain has no other that could stand in its way.
        expect(inDomain(0, taken)).toBe(Math.min(1, inDomain(0, wishes.flat())));
      }),
      { numRuns: 25 },
    );
  });

  it('fails loudly for a domain that the plan does not have', async () => {
    await freeze(store, aRollout(), pendingOnes(1, { domains: [3] }), []);
    const admission = { rolloutId, rolloutRev: 1, slots: 5, domains: [], changes: [admitted(await load(1))] };
    await expect(store.admit(admission, 1)).rejects.toThrow(/collector 1 is in domain 3/);
  });

  it('admits nobody when the rollout has changed since it was decided', async () => {
    await freeze(store, aRollout(), pendingOnes(1), []);
    await saveRollout({ rev: 2, reason: because('another') });
    const changes = [admitted(await load(1))];
    expect(await store.admit({ rolloutId, rolloutRev: 1, slots: 5, domains: [], changes }, 1)).toEqual([]);
    expect(await store.admit({ rolloutId, rolloutRev: 2, slots: 5, domains: [], changes }, 1)).toEqual([1]);
  });

  it('leaves out records that have changed, and admits the others', async () => {
    await freeze(store, aRollout(), pendingOnes(3), []);
    const changes = (await store.loadUpgrades(rolloutId, [1, 2, 3])).upgrades.map(admitted);
    await store.saveUpgrade(ended(await load(2), 'withdrawn', 0), null);
    expect(await store.admit({ rolloutId, rolloutRev: 1, slots: 5, domains: [], changes }, 1)).toEqual([
      1, 3,
    ]);
  });
});

describe('the view', () => {
  it('shows retries and overdue steps, each in the order of their instants', async () => {
    const retrying = (collectorId: number, dueAt: number) =>
      anUpgrade({ state: 'retrying', dueAt, reason: because('') }, { collectorId, order: collectorId });
    const queued = (collectorId: number, dueAt: number) =>
      anUpgrade({ state: 'queued', dueAt, freshAt: 0, startBy: null }, { collectorId, order: collectorId });
    const now = startedAt;
    await freeze(
      store,
      aRollout(),
      [
        retrying(1, now),
        retrying(2, now - 5),
        retrying(3, now + 7),
        retrying(4, now + 9),
        queued(5, now),
        queued(6, 3),
      ],
      [],
    );
    const view = await viewNow({ now, overdueBefore: now });
    expect(view).toMatchObject({ nextRetryAt: now + 7, overdue: [6] });
    const first = { collectorId: 2, order: now - 5 };
    expect(view.candidates).toEqual([
      { lane: 0, retries: [first, { collectorId: 1, order: now }], pending: [] },
    ]);
    const short = await viewNow({ now: now + 8, pageSize: 1 });
    expect(short.candidates).toEqual([{ lane: 0, retries: [first], pending: [] }]);
    expect((await viewNow({ now: now + 9 })).nextRetryAt).toBeNull();
  });

  it('is undefined for a rollout that is not there', async () => {
    expect(await store.loadView(rolloutId, { now: 0, overdueBefore: 0, pageSize: 1 })).toBeUndefined();
    expect(await store.loadUpgrade(rolloutId, 1)).toBeUndefined();
    expect(await store.loadUpgrades(rolloutId, [1, 2])).toEqual({ upgrades: [], unreadable: [] });
    expect(await store.listUpgrades(rolloutId, { offset: 0, limit: 9, state: 'failed' })).toEqual([]);
    expect(await store.readEvents(rolloutId, { limit: 9 })).toEqual([]);
  });
});

describe('all upgrades of a state', () => {
  const total = 3_500;
  const succeeded = { endedAt: startedAt + 5, reason: because(''), weight: 0, lost: false } as const;

  it('costs one walk through the plan, however many there are', async () => {
    const upgrades = range(total).map((collectorId) =>
      anUpgrade({ state: 'succeeded', ...succeeded }, { collectorId, order: collectorId }),
    );
    await freeze(store, aRollout(), upgrades, []);
    let read = 0;
    const hmget = (key: string, ...fields: string[]) => {
      read += fields.length;
      return connection.commands.hmget(key, ...fields);
    };
    const commands = Object.assign(Object.create(connection.commands), { hmget });

    const all = await listAllUpgrades(makeRedisRolloutStore({ commands, keyPrefix }), rolloutId, {
      state: 'succeeded',
    });

    expect(all).toEqual(upgrades);
    expect(read).toBe(total);
  });

  it('are all there, also those behind a page of records that nobody can read', async () => {
    await freeze(store, aRollout(), pendingOnes(total), []);
    const { records } = rolloutKeys(keyPrefix, rolloutId);
    const broken = range(1_000).flatMap((collectorId) => [String(collectorId), 'no record']);
    await connection.commands.hset(records, ...broken);

    const all = await listAllUpgrades(store, rolloutId, { state: 'pending' });

    expect(all.map(({ identity: { collectorId } }) => collectorId)).toEqual(range(total).slice(1_000));
  });
});

describe('another plan in the place of one that waits', () => {
  const waiting = aRollout({ state: 'awaitingApproval' });
  const anew = {
    rollout: { ...waiting, rev: 2 },
    upgrades: pendingOnes(700),
    groups: someGroups(),
    events: [],
  };
  beforeEach(() => freeze(store, waiting, pendingOnes(3), []));

  it('leaves nothing of its own behind, also when it is refused', async () => {
    const keysBefore = await keysOfPrefix();
    expect(await store.replan(anew, 9)).toBe('stale');
    expect(await keysOfPrefix()).toEqual(keysBefore);
    expect(await store.replan(anew, 1)).toBe('saved');
    expect(await keysOfPrefix()).toEqual(keysBefore);
    for (const key of keysBefore.filter((each) => !each.includes(':number:')))
      expect(await connection.commands.pttl(key)).toBe(-1);
  });

  it('is saved when the command is sent again after the approval', async () => {
    const approve = () =>
      store.saveRollout({ rollout: aRollout({ rev: 3 }), expectedRev: 2, events: [], brake: 'keep' }, null);
    const echo = echoingCommands(connection.commands, approve);
    const doubled = makeRedisRolloutStore({ commands: echo.commands, keyPrefix });
    expect(await doubled.replan(anew, 1)).toBe('saved');
    expect((await store.loadRollout(rolloutId))?.state).toBe('running');
    expect((await viewNow()).waves[0]?.counts.pending).toBe(700);
  });
});

describe('late joiners', () => {
  const joiner = anUpgrade({ state: 'pending' }, { collectorId: 9, order: 9 });
  const joining = { rollout: aRollout({ rev: 2 }), upgrades: [joiner], groups: someGroups(), events: [] };
  beforeEach(() => freeze(store, aRollout(), pendingOnes(3), []));

  it('leave nothing behind when they are refused', async () => {
    const keysBefore = await keysOfPrefix();
    expect(await store.join(joining, 9, null)).toBe('stale');
    expect(await keysOfPrefix()).toEqual(keysBefore);
    expect(await store.join(joining, 1, null)).toBe('saved');
    expect(await keysOfPrefix()).toEqual(keysBefore);
  });

  it('expire when they were never taken up', async () => {
    const dying = dyingCommands(connection.commands, ':groups');
    const daemon = makeRedisRolloutStore({ commands: dying, keyPrefix });
    await expect(daemon.join(joining, 1, null)).rejects.toThrow('killed');
    const staged = (await keysOfPrefix()).filter((key) => key.includes('staging'));
    expect(staged).toHaveLength(1);
    expect(await connection.commands.pttl(staged[0] ?? '')).toBeGreaterThan(0);
    expect(await store.loadUpgrade(rolloutId, 9)).toBeUndefined();
  });

  it('are saved when the command is sent again after another change', async () => {
    const pause = () =>
      store.saveRollout(
        { rollout: aRollout({ state: 'paused', rev: 3 }), expectedRev: 2, events: [], brake: 'keep' },
        null,
      );
    const echo = echoingCommands(connection.commands, pause);
    const doubled = makeRedisRolloutStore({ commands: echo.commands, keyPrefix });
    expect(await doubled.join(joining, 1, null)).toBe('saved');
    expect((await store.loadRollout(rolloutId))?.state).toBe('paused');
  });

  it('are not made anew by a command that is sent again after they have moved on', async () => {
    const echo = echoingCommands(connection.commands, async () => {
      const before = await store.loadUpgrade(rolloutId, 9);
      if (before?.progress.state === 'pending') await store.saveUpgrade(ended(before, 'failed', 1), null);
    });
    const doubled = makeRedisRolloutStore({ commands: echo.commands, keyPrefix });
    expect(await doubled.join(joining, 1, null)).toBe('saved');
    expect((await load(9)).progress.state).toBe('failed');
    expect((await viewNow()).waves[0]?.counts).toMatchObject({ pending: 3, failed: 1 });
  });
});

describe('places', () => {
  it.each([{ order: 1_000_000 }, { lane: 1_000_000 }, { wave: 1_000 }, { order: -1 }, { lane: 0.5 }])(
    'beyond what can be told apart are refused: %o',
    async (place) => {
      await expect(freeze(store, aRollout(), pendingOnes(1, place), [])).rejects.toThrow(
        /collector 1 is at place/,
      );
      await freeze(store, aRollout(), pendingOnes(1), []);
      const joining = {
        rollout: aRollout({ rev: 2 }),
        upgrades: pendingOnes(1, place),
        groups: someGroups(),
      };
      await expect(store.join({ ...joining, events: [] }, 1, null)).rejects.toThrow(
        /collector 1 is at place/,
      );
    },
  );

  it('up to the last one are exact', async () => {
    const last = { order: 999_999, lane: 999_999, wave: 999 };
    const waves = Array.from({ length: 1_000 }, () => aWave());
    const upgrades = pendingOnes(3, (index) => ({ ...last, order: last.order - index }));
    await freeze(store, aRollout({ waves }), upgrades, []);
    const pending = [3, 2, 1].map((id) => ({ collectorId: id, order: last.order - id + 1 }));
    expect((await viewNow()).candidates).toEqual([{ lane: last.lane, retries: [], pending }]);
    const listed = await store.listUpgrades(rolloutId, { offset: 0, limit: 9, wave: 999 });
    expect(listed.map(({ identity: { collectorId } }) => collectorId)).toEqual([3, 2, 1]);
  });
});

describe('more lanes than one view has room for', () => {
  it('wait until others are empty, and keep no later wave out', async () => {
    const tooMany = 5_002;
    const upgrades = pendingOnes(tooMany + 2, (index) =>
      index < tooMany ? { lane: index } : { wave: 1, lane: index === tooMany ? 3 : 5_001 },
    );
    const waves = [aWave({ state: 'passed' }), aWave()];
    await freeze(store, aRollout({ waves }), upgrades, []);
    const { candidates } = await viewNow();
    expect(candidates.map(({ lane }) => lane)).toEqual([...Array(5_000).keys(), 5_001]);
    expect(candidates.filter(({ pending }) => pending.length > 1).map(({ lane }) => lane)).toEqual([3]);
    expect(candidates.at(-1)?.pending).toEqual([{ collectorId: tooMany + 2, order: tooMany + 2 }]);
  });
});

describe('groups', () => {
  it('are sent once to a daemon that looks often, and again when they have changed', async () => {
    const sent: string[] = [];
    const listening = onScripts(connection.commands, async (send) => {
      const reply = await send();
      if (Array.isArray(reply)) sent.push(String(reply[9]));
      return reply;
    });
    const daemon = makeRedisRolloutStore({ commands: listening, keyPrefix });
    const at = { now: 0, overdueBefore: 0, pageSize: 1 };
    await freeze(store, aRollout(), pendingOnes(1), []);
    for (const _look of [1, 2]) expect((await daemon.loadView(rolloutId, at))?.groups).toEqual(someGroups());
    // The same words of hash and rev: it is the write that counts.
    const groups = someGroups({ domains: [{ label: 'a', cap: 1 }] });
    await store.join({ rollout: aRollout({ rev: 2 }), upgrades: [], groups, events: [] }, 1, null);
    for (const _look of [1, 2]) expect((await daemon.loadView(rolloutId, at))?.groups).toEqual(groups);
    expect(sent.map((text) => text.length > 0)).toEqual([true, false, true, false]);
  });

  it('that cannot be read, or are gone, are told once and stop no view (P14)', async () => {
    const told: string[] = [];
    const broken = makeBrokenRecords(({ message }) => told.push(message));
    store = makeRedisRolloutStore({ commands: connection.commands, keyPrefix, broken });
    await freeze(store, aRollout(), pendingOnes(1), []);
    await connection.commands.set(rolloutKeys(keyPrefix, rolloutId).groups, '{"strata":[]}');
    expect(await store.loadGroups(rolloutId)).toBeUndefined();
    await connection.commands.del(rolloutKeys(keyPrefix, rolloutId).groups);
    expect(await viewNow()).toMatchObject({ groupsUnreadable: true, groups: noGroups });
    expect(told).toEqual([expect.stringContaining(`the groups of rollout ${rolloutId}`)]);
  });
});

describe('the keys of a rollout that is over', () => {
  const over = {
    rollout: aRollout({ state: 'succeeded', endedAt: startedAt, rev: 2 }),
    expectedRev: 1,
    events: [],
  };
  beforeEach(async () => {
    await freeze(store, aRollout(), pendingOnes(2), [anEvent('rollout.running')]);
    await store.saveRollout({ ...over, brake: 'keep' }, null);
  });
  const livesOf = async () => {
    const keys = (await keysOfPrefix()).filter((key) => key.includes(rolloutId));
    return Promise.all(keys.map((key) => connection.commands.pttl(key)));
  };

  it('expire together, those that come later among them', async () => {
    expect((await livesOf()).every((leftMs) => leftMs > 0)).toBe(true);
    const before = (await keysOfPrefix()).length;
    const retried = changeTo(await load(1), { state: 'retrying', dueAt: startedAt, reason: because('') });
    expect(await store.saveUpgrade(retried, null)).toBe('saved');
    expect((await keysOfPrefix()).length).toBeGreaterThan(before);
    expect((await livesOf()).every((leftMs) => leftMs > 0)).toBe(true);
    const joiner = anUpgrade(
      { state: 'deferred', condition: 'notAlive', since: 0, dueAt: 1, reason: because('') },
      { collectorId: 9 },
    );
    const joining = {
      rollout: { ...over.rollout, rev: 3 },
      upgrades: [joiner],
      groups: someGroups(),
      events: [],
    };
    expect(await store.join(joining, 2, null)).toBe('saved');
    expect((await livesOf()).every((leftMs) => leftMs > 0)).toBe(true);
  });

  it('live on when it goes on', async () => {
    const again = { rollout: aRollout({ rev: 3 }), expectedRev: 2, events: [] };
    expect(await store.saveRollout({ ...again, brake: 'keep' }, null)).toBe('saved');
    expect(await livesOf()).toEqual((await livesOf()).map(() => -1));
    expect(await store.activeRolloutIds(['production'])).toEqual([rolloutId]);
  });
});

/** With the groups that most of these tests need none of. */
function freeze(
  at: RolloutStore,
  rollout: Rollout,
  upgrades: FrozenPlan['upgrades'],
  events: readonly RolloutEvent[],
) {
  return at.freeze({ rollout, upgrades, groups: someGroups(), events });
}

async function viewNow(
  at: Partial<{ now: number; overdueBefore: number; pageSize: number }> = {},
): Promise<StoredView> {
  const view = await store.loadView(rolloutId, {
    now: startedAt,
    overdueBefore: startedAt,
    pageSize: 100,
    ...at,
  });
  if (view === undefined) throw new Error('there is no rollout');
  return view;
}

async function load(collectorId: number): Promise<Upgrade> {
  const upgrade = await store.loadUpgrade(rolloutId, collectorId);
  if (upgrade === undefined) throw new Error(`there is no collector ${collectorId}`);
  return upgrade;
}

function saveRollout(
  changes: Partial<Rollout>,
  how: { expectedRev?: number; fence?: number | null; brake?: 'set' | 'lift' | 'keep' } = {},
) {
  const { expectedRev = 1, fence = null, brake = 'keep' } = how;
  return store.saveRollout(
    { rollout: aRollout({ rev: 2, ...changes }), expectedRev, events: [], brake },
    fence,
  );
}

function admission({ rollout }: StoredView) {
  return { rolloutId, rolloutRev: rollout.rev, slots: 10, domains: [] };
}

function newKeyPrefix(): void {
  keyPrefix = redis.config().keyPrefix;
  store = anotherStore();
}

function anotherStore(): RolloutStore {
  return makeRedisRolloutStore({ commands: connection.commands, keyPrefix });
}

async function keysOfPrefix(): Promise<readonly string[]> {
  return (await connection.commands.keys(`${keyPrefix}:*`)).sort();
}
