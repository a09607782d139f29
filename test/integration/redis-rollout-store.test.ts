import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RolloutStore, UpgradeChange } from '../../src/orchestrator/ports.ts';
import type { RedisConnection } from '../../src/redis/connection.ts';
import { makeRedisRolloutStore } from '../../src/redis/redis-rollout-store.ts';
import { rolloutKeys } from '../../src/redis/rollout-keys.ts';
import type { RolloutEvent } from '../../src/rollout/events.ts';
import type { Rollout, RolloutView } from '../../src/rollout/rollout.ts';
import {
  dueAtOf,
  holdsSlot,
  isLost,
  type Upgrade,
  type UpgradeProgress,
  type UpgradeState,
  upgradeStates,
  weightOf,
} from '../../src/rollout/upgrade.ts';
import { anUpgrade, aRollout, aWave, startedAt } from '../support/builders.ts';
import { useRedis } from '../support/redis.ts';

const redis = useRedis();
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
    expect(await store.freeze(aRollout(), upgrades.toReversed(), [anEvent('rollout.running')])).toBe(
      'frozen',
    );
    expect(await store.activeRolloutIds(['production', 'other'])).toEqual([rolloutId]);
    expect(await store.loadRollout(rolloutId)).toEqual(aRollout());
    expect(await store.listUpgrades(rolloutId, { offset: 0, limit: 10 })).toEqual(upgrades);
    expect(await store.readEvents(rolloutId, { limit: 10 })).toEqual([anEvent('rollout.running')]);
    expect(await viewNow()).toMatchObject({
      slotsTaken: 0,
      candidates: { wave: 0, collectorIds: [1, 2, 3, 4, 5] },
    });
  });

  it('counts what a plan rebuilt from the service has begun already (P11)', async () => {
    const running = anUpgrade({ state: 'starting', sentAt: startedAt, dueAt: startedAt }, { collectorId: 2 });
    const lost = anUpgrade(
      { state: 'unconfirmed', endedAt: startedAt + 5, reason: '', weight: 3, lost: true },
      { collectorId: 3, firstStartedAt: startedAt },
    );
    await store.freeze(aRollout(), [anUpgrade({ state: 'pending' }), running, lost], []);
    const view = await viewNow();
    expect(view.slotsTaken).toBe(1);
    expect(view.waves[0]).toMatchObject({ weight: 3, lost: 1, lastChangeAt: startedAt + 5 });
    expect(view.waves[0]?.counts).toMatchObject({ pending: 1, starting: 1, unconfirmed: 1 });
    expect(await store.countFreshIntents(rolloutId, startedAt)).toBe(1);
    expect(await store.countFreshIntents(rolloutId, startedAt + 1)).toBe(0);
  });

  it('answers busy while the policy has an active rollout, and leaves nothing of its own behind', async () => {
    await store.freeze(aRollout(), pendingOnes(2), []);
    const second = aRollout({ id: 'production-20260302-2' });
    const keysBefore = await keysOfPrefix();
    expect(await store.freeze(second, pendingOnes(2, { rolloutId: second.id }), [])).toBe('busy');
    expect(await store.freeze(aRollout(), pendingOnes(3), [])).toBe('busy');
    expect(await keysOfPrefix()).toEqual(keysBefore);
    expect(await store.loadRollout(second.id)).toBeUndefined();
  });

  it('lets one of many daemons win', async () => {
    const daemons = Array.from({ length: 4 }, () => anotherStore());
    const answers = await Promise.all(
      daemons.map((daemon, index) =>
        daemon.freeze(aRollout({ startedBy: `daemon ${index}` }), pendingOnes(700 + index), []),
      ),
    );
    expect(answers.filter((answer) => answer === 'frozen')).toHaveLength(1);
    const winner = answers.indexOf('frozen');
    expect((await store.loadRollout(rolloutId))?.startedBy).toBe(`daemon ${winner}`);
    expect((await viewNow()).waves[0]?.counts.pending).toBe(700 + winner);
    expect((await keysOfPrefix()).filter((key) => key.includes('staging'))).toEqual([]);
  });

  it('is the same when the command is sent twice', async () => {
    const echo = echoing();
    const doubled = makeRedisRolloutStore({ commands: echo.commands, keyPrefix });
    expect(await doubled.freeze(aRollout(), pendingOnes(3), [anEvent('rollout.running')])).toBe('frozen');
    expect(echo.repeats()).toBeGreaterThan(0);
    expect(await store.readEvents(rolloutId, { limit: 10 })).toHaveLength(1);
    expect((await viewNow()).waves[0]?.counts.pending).toBe(3);
  });

  it('lets records that were never activated expire', async () => {
    const dying = makeRedisRolloutStore({
      commands: dyingBeforeActivation(connection.commands),
      keyPrefix,
    });
    await expect(dying.freeze(aRollout(), pendingOnes(3), [])).rejects.toThrow('killed');
    const staged = (await keysOfPrefix()).filter((key) => key.includes('staging'));
    expect(staged.length).toBeGreaterThan(0);
    for (const key of staged) expect(await connection.commands.pttl(key)).toBeGreaterThan(0);
    expect(await store.activeRolloutIds(['production'])).toEqual([]);
    expect(await store.freeze(aRollout(), pendingOnes(3), [])).toBe('frozen');
    for (const key of Object.values(rolloutKeys(keyPrefix, rolloutId))) {
      if ((await connection.commands.exists(key)) === 1) expect(await connection.commands.pttl(key)).toBe(-1);
    }
  });

  it('takes 10,000 collectors', async () => {
    const upgrades = pendingOnes(10_000, (index) => ({ wave: index < 100 ? 0 : 1 }));
    const rollout = aRollout({ waves: [aWave({ size: 100 }), aWave({ size: 9_900 })] });
    expect(await store.freeze(rollout, upgrades, [])).toBe('frozen');
    const view = await viewNow({ pageSize: 50 });
    expect(view.candidates).toEqual({
      wave: 0,
      collectorIds: upgrades.slice(0, 50).map((u) => u.collectorId),
    });
    expect(view.waves.map(({ counts }) => counts.pending)).toEqual([100, 9_900]);
    const page = await store.listUpgrades(rolloutId, { offset: 9_990, limit: 100 });
    expect(page).toEqual(upgrades.slice(9_990));
  });

  it('numbers the rollouts of a day, each day anew', async () => {
    expect(await store.nextRolloutNumber('production', '20260302')).toBe(1);
    await store.freeze(aRollout(), pendingOnes(1), []);
    expect(await store.nextRolloutNumber('production', '20260302')).toBe(2);
    expect(await store.nextRolloutNumber('production', '20260303')).toBe(1);
    expect(await store.nextRolloutNumber('other', '20260302')).toBe(1);
  });
});

describe('saving a rollout', () => {
  beforeEach(() => store.freeze(aRollout(), pendingOnes(3), []));

  it('refuses one that was made from an older one', async () => {
    expect(await saveRollout({ state: 'paused' })).toBe('saved');
    expect(await saveRollout({ state: 'held' })).toBe('stale');
    expect((await store.loadRollout(rolloutId))?.state).toBe('paused');
  });

  it('counts a save that is sent twice once', async () => {
    const echo = echoing();
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
    expect(await saveRollout({ rev: 2, reason: 'a' }, { expectedRev: 1, fence: 7 })).toBe('saved');
    expect(await saveRollout({ rev: 3, reason: 'b' }, { expectedRev: 2, fence: 6 })).toBe('stale');
    expect(await saveRollout({ rev: 3, reason: 'c' }, { expectedRev: 2, fence: 7 })).toBe('saved');
    // An operator has no fence, and needs none.
    expect(await saveRollout({ rev: 4, reason: 'd' }, { expectedRev: 3, fence: null })).toBe('saved');
    const admission = { rolloutId, rolloutRev: 4, slots: 9, changes: [admitted(await load(1))] };
    expect(await store.admit(admission, 6)).toEqual([]);
    expect(await store.admit(admission, 8)).toEqual([1]);
  });

  it('ends it: the policy is free for the next one, and the ended one is kept for a while', async () => {
    expect(await saveRollout({ state: 'succeeded', endedAt: startedAt + 1, rev: 2 })).toBe('saved');
    expect(await store.activeRolloutIds(['production'])).toEqual([]);
    const next = aRollout({ id: 'production-20260302-2', createdAt: startedAt + 2 });
    expect(await store.freeze(next, pendingOnes(1, { rolloutId: next.id }), [])).toBe('frozen');
    expect((await store.listRollouts(['production', 'other'])).map(({ id }) => id)).toEqual([
      next.id,
      rolloutId,
    ]);
    const { rollout, records } = rolloutKeys(keyPrefix, rolloutId);
    for (const key of [rollout, records])
      expect(await connection.commands.ttl(key)).toBeGreaterThan(80 * 86_400);
    expect(await connection.commands.ttl(rolloutKeys(keyPrefix, next.id).rollout)).toBe(-1);
  });

  it('forgets rollouts whose keys have expired', async () => {
    await saveRollout({ state: 'succeeded', endedAt: startedAt + 1, rev: 2 });
    await connection.commands.del(rolloutKeys(keyPrefix, rolloutId).rollout);
    expect(await store.listRollouts(['production'])).toEqual([]);
    const later = startedAt + 100 * 86_400_000;
    const next = aRollout({ id: 'production-20260610-1', createdAt: later });
    await store.freeze(next, pendingOnes(1, { rolloutId: next.id }), []);
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
  beforeEach(() => store.freeze(aRollout(), pendingOnes(3), []));

  it('refuses one that was made from an older record', async () => {
    const change = admitted(await load(1));
    expect(await store.saveUpgrade(change, null)).toBe('saved');
    const rival = { ...change, after: { ...change.after, misses: 4 } };
    expect(await store.saveUpgrade(rival, null)).toBe('stale');
    expect(await load(1)).toEqual(change.after);
  });

  it('counts a change that is sent twice once, and appends its events once', async () => {
    const echo = echoing();
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
    expect(await store.saveIntent(intended(await load(3)))).toBe('braked');
    expect(await store.admit({ ...admission(view), changes: [admitted(await load(3))] }, 1)).toEqual([]);
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

  it('learns how long upgrades take from those that succeeded', async () => {
    for (const id of [1, 2]) {
      const { before, after } = ended(await load(id), 'succeeded', 0);
      const started = { ...after, firstStartedAt: startedAt + 60_000 - id * 1_000 };
      await store.saveUpgrade({ before, after: started, events: [] }, null);
    }
    await store.saveUpgrade(ended(await load(3), 'failed', 1), null);
    expect((await viewNow()).learned).toEqual({ count: 2, meanMs: 1_500 });
  });

  it('tells clearly which record is broken', async () => {
    await connection.commands.hset(rolloutKeys(keyPrefix, rolloutId).records, '1', '{"rev":');
    await expect(load(1)).rejects.toThrow(/record of collector 1 of rollout production-20260302-1/);
    const change = admitted(anUpgrade({ state: 'pending' }));
    await expect(store.saveUpgrade(change, null)).rejects.toThrow(/record of collector 1 /);
    await connection.commands.hset(rolloutKeys(keyPrefix, rolloutId).rollout, 'json', '{"id":1}');
    await expect(store.loadRollout(rolloutId)).rejects.toThrow(
      /rollout production-20260302-1 in Redis can't be read/,
    );
  });
});

describe('the intent before a create', () => {
  beforeEach(() => store.freeze(aRollout(), pendingOnes(3), []));

  it('is saved while the rollout runs, and counted until its answer is in', async () => {
    const change = intended(await load(1));
    expect(await store.saveIntent(change)).toBe('saved');
    expect(await store.countFreshIntents(rolloutId, startedAt)).toBe(1);
    await store.saveUpgrade(ended(change.after, 'failed', 1), null);
    expect(await store.countFreshIntents(rolloutId, startedAt)).toBe(0);
  });

  it('is refused when the rollout is paused, also without a brake (P4)', async () => {
    await saveRollout({ state: 'paused' }, { brake: 'keep' });
    expect(await store.saveIntent(intended(await load(1)))).toBe('braked');
    expect(await store.countFreshIntents(rolloutId, 0)).toBe(0);
  });

  it('is saved again when the command is sent twice, but not under a brake set meanwhile', async () => {
    const echo = echoing();
    const doubled = makeRedisRolloutStore({ commands: echo.commands, keyPrefix });
    expect(await doubled.saveIntent(intended(await load(1)))).toBe('saved');
    const paused = echoing(() => saveRollout({ state: 'paused' }));
    const late = makeRedisRolloutStore({ commands: paused.commands, keyPrefix });
    expect(await late.saveIntent(intended(await load(2)))).toBe('braked');
    expect((await load(2)).state).toBe('starting');
  });

  it('is saved for one of two daemons that write the very same one (P1)', async () => {
    const change = intended(await load(1));
    const answers = await Promise.all([store.saveIntent(change), anotherStore().saveIntent(change)]);
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
          await store.freeze(aRollout(), pendingOnes(20), []);
          const records = await store.loadUpgrades(rolloutId, range(20));
          const results = await Promise.all(
            wishes.map((ids) => {
              const changes = ids.flatMap((id) => records.filter((u) => u.collectorId === id).map(admitted));
              return anotherStore().admit({ rolloutId, rolloutRev: 1, slots, changes }, 1);
            }),
          );
          const wanted = new Set(wishes.flat()).size;
          expect((await viewNow()).slotsTaken).toBe(Math.min(slots, wanted));
          const queued = await store.listUpgrades(rolloutId, { offset: 0, limit: 100, state: 'queued' });
          expect(queued).toHaveLength(Math.min(slots, wanted));
          expect(new Set(results.flat())).toEqual(new Set(queued.map((u) => u.collectorId)));
        },
      ),
      { numRuns: 25 },
    );
  });

  it('answers the same when it is sent twice', async () => {
    await store.freeze(aRollout(), pendingOnes(3), []);
    const changes = (await store.loadUpgrades(rolloutId, [1, 2, 3])).map(admitted);
    const doubled = makeRedisRolloutStore({ commands: echoing().commands, keyPrefix });
    expect(await doubled.admit({ rolloutId, rolloutRev: 1, slots: 2, changes }, 1)).toEqual([1, 2]);
    expect((await viewNow()).slotsTaken).toBe(2);
  });

  it('admits nobody when the rollout has changed since it was decided', async () => {
    await store.freeze(aRollout(), pendingOnes(1), []);
    await saveRollout({ rev: 2, reason: 'another' });
    const changes = [admitted(await load(1))];
    expect(await store.admit({ rolloutId, rolloutRev: 1, slots: 5, changes }, 1)).toEqual([]);
    expect(await store.admit({ rolloutId, rolloutRev: 2, slots: 5, changes }, 1)).toEqual([1]);
  });

  it('leaves out records that have changed, and admits the others', async () => {
    await store.freeze(aRollout(), pendingOnes(3), []);
    const changes = (await store.loadUpgrades(rolloutId, [1, 2, 3])).map(admitted);
    await store.saveUpgrade(ended(await load(2), 'withdrawn', 0), null);
    expect(await store.admit({ rolloutId, rolloutRev: 1, slots: 5, changes }, 1)).toEqual([1, 3]);
  });
});

describe('the view', () => {
  it('shows retries and overdue steps, each in the order of their instants', async () => {
    const retrying = (collectorId: number, dueAt: number) =>
      anUpgrade({ state: 'retrying', dueAt, reason: '' }, { collectorId, order: collectorId });
    const queued = (collectorId: number, dueAt: number) =>
      anUpgrade({ state: 'queued', dueAt, freshAt: 0 }, { collectorId, order: collectorId });
    const now = startedAt;
    await store.freeze(
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
    expect(view).toMatchObject({ retriesDue: [2, 1], nextRetryAt: now + 7, overdue: [6], candidates: null });
    expect((await viewNow({ now: now + 8, pageSize: 1 })).retriesDue).toEqual([2]);
    expect((await viewNow({ now: now + 9 })).nextRetryAt).toBeNull();
  });

  it('has the candidates of the first wave with pending ones only, in plan order', async () => {
    const upgrades = pendingOnes(6, (index) => ({ wave: index < 2 ? 0 : 1, order: 10 - index }));
    await store.freeze(aRollout({ waves: [aWave(), aWave()] }), upgrades, []);
    expect((await viewNow()).candidates).toEqual({ wave: 0, collectorIds: [2, 1] });
    for (const id of [1, 2]) await store.saveUpgrade(ended(await load(id), 'succeeded', 0), null);
    expect((await viewNow()).candidates).toEqual({ wave: 1, collectorIds: [6, 5, 4, 3] });
  });

  it('is undefined for a rollout that is not there', async () => {
    expect(await store.loadView(rolloutId, { now: 0, overdueBefore: 0, pageSize: 1 })).toBeUndefined();
    expect(await store.loadUpgrade(rolloutId, 1)).toBeUndefined();
    expect(await store.loadUpgrades(rolloutId, [1, 2])).toEqual([]);
    expect(await store.listUpgrades(rolloutId, { offset: 0, limit: 9, state: 'failed' })).toEqual([]);
    expect(await store.readEvents(rolloutId, { limit: 9 })).toEqual([]);
  });

  it('adds up to the records after any transitions, refused and repeated ones included (P9)', async () => {
    const wish = fc.record({
      collectorId: fc.integer({ min: 1, max: 6 }),
      state: fc.constantFrom(...upgradeStates),
      instant: fc.integer({ min: 0, max: 1_000 }),
      kind: fc.constantFrom('save', 'save', 'intent', 'admit', 'twice', 'outdated'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(wish, { maxLength: 25 }), async (wishes) => {
        newKeyPrefix();
        const plan = pendingOnes(6, (index) => ({ wave: index % 2 }));
        await store.freeze(aRollout({ waves: [aWave(), aWave()] }), plan, []);
        const doubled = makeRedisRolloutStore({ commands: echoing().commands, keyPrefix });
        for (const { collectorId, state, instant, kind } of wishes) {
          const before = await load(collectorId);
          const change = changeTo(before, anyProgress(state, instant));
          if (kind === 'save') await store.saveUpgrade(change, null);
          if (kind === 'twice') await doubled.saveUpgrade(change, null);
          if (kind === 'intent') await store.saveIntent(change);
          if (kind === 'outdated')
            await store.saveUpgrade({ ...change, before: { ...before, rev: 0 } }, null);
          if (kind === 'admit')
            await store.admit({ rolloutId, rolloutRev: 1, slots: 3, changes: [change] }, 1);
        }
        const records = await store.listUpgrades(rolloutId, { offset: 0, limit: 100 });
        const at = { now: 500, overdueBefore: 500, pageSize: 100 };
        expectViewOf(await viewNow(at), records, at.now);
        for (const state of upgradeStates) {
          const listed = await store.listUpgrades(rolloutId, { offset: 1, limit: 2, state });
          const ofState = records.filter((record) => record.state === state);
          // Pending ones are listed wave by wave, which is the plan's own order when waves follow each other.
          if (state !== 'pending') expect(listed).toEqual(ofState.slice(1, 3));
        }
      }),
      { numRuns: 60 },
    );
  });
});

function expectViewOf(view: RolloutView, records: readonly Upgrade[], now: number): void {
  const ids = (wanted: (record: Upgrade) => boolean) =>
    new Set(records.filter(wanted).map(({ collectorId }) => collectorId));
  view.waves.forEach((summary, wave) => {
    const members = records.filter((record) => record.wave === wave);
    for (const state of upgradeStates) {
      expect(summary.counts[state]).toBe(members.filter((record) => record.state === state).length);
    }
    expect(summary.weight).toBe(members.reduce((sum, record) => sum + weightOf(record), 0));
    expect(summary.lost).toBe(members.filter(isLost).length);
  });
  expect(view.slotsTaken).toBe(records.filter(({ state }) => holdsSlot(state)).length);
  const due = (record: Upgrade) => dueAtOf(record) ?? Number.POSITIVE_INFINITY;
  expect(new Set(view.retriesDue)).toEqual(
    ids((record) => record.state === 'retrying' && due(record) <= now),
  );
  expect(new Set(view.overdue)).toEqual(ids((record) => record.state !== 'retrying' && due(record) < now));
  const pendingWave = [0, 1].find((wave) => records.some((r) => r.wave === wave && r.state === 'pending'));
  expect(view.candidates?.wave).toBe(pendingWave);
  expect(new Set(view.candidates?.collectorIds ?? [])).toEqual(
    ids((record) => record.state === 'pending' && record.wave === pendingWave),
  );
}

async function viewNow(
  at: Partial<{ now: number; overdueBefore: number; pageSize: number }> = {},
): Promise<RolloutView> {
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

function admission({ rollout }: RolloutView) {
  return { rolloutId, rolloutRev: rollout.rev, slots: 10 };
}

function newKeyPrefix(): void {
  keyPrefix = redis.config().keyPrefix;
  store = anotherStore();
}

function anotherStore(): RolloutStore {
  return makeRedisRolloutStore({ commands: connection.commands, keyPrefix });
}

function pendingOnes(
  count: number,
  changes: Partial<Upgrade> | ((index: number) => Partial<Upgrade>) = {},
): readonly Upgrade[] {
  return range(count).map((id) => {
    const own = typeof changes === 'function' ? changes(id - 1) : changes;
    return anUpgrade(
      { state: 'pending' },
      { collectorId: id, order: id, collectorName: `näme "${id}"`, ...own },
    );
  });
}

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

function changeTo(before: Upgrade, progress: UpgradeProgress): UpgradeChange {
  const { rolloutId: id, collectorId, collectorName, wave, order, rev } = before;
  const after = anUpgrade(progress, { rolloutId: id, collectorId, collectorName, wave, order, rev: rev + 1 });
  return { before, after, events: [anEvent(`upgrade.${after.state}`, startedAt + 60_000)] };
}

function admitted(before: Upgrade): UpgradeChange {
  return changeTo(before, { state: 'queued', dueAt: startedAt, freshAt: startedAt });
}

function intended(before: Upgrade): UpgradeChange {
  return changeTo(before, { state: 'starting', sentAt: startedAt, dueAt: startedAt });
}

function ended(
  before: Upgrade,
  state: 'failed' | 'unconfirmed' | 'succeeded' | 'withdrawn',
  weight: number,
): UpgradeChange {
  return changeTo(before, { state, endedAt: startedAt + 60_000, reason: '', weight, lost: weight > 1 });
}

function anyProgress(state: UpgradeState, instant: number): UpgradeProgress {
  switch (state) {
    case 'pending':
      return { state };
    case 'queued':
      return { state, dueAt: instant, freshAt: 0 };
    case 'starting':
      return { state, dueAt: instant, sentAt: instant };
    case 'upgrading':
      return { state, taskId: '7', startedAt: 0, lookedAt: 0, deadlineAt: 9, dueAt: instant, ending: null };
    case 'verifying':
      return {
        state,
        taskId: null,
        startedAt: 0,
        verifyBy: 9,
        dueAt: instant,
        endedServiceAt: null,
        baselineHeartbeatAt: null,
        late: false,
      };
    case 'retrying':
      return { state, dueAt: instant, reason: 'again' };
    case 'deferred':
      return { state, condition: 'notAlive', since: 0, dueAt: instant, reason: 'asleep' };
    case 'unconfirmed':
      return { state, endedAt: instant, reason: '', weight: 3, lost: true };
    default:
      return {
        state,
        endedAt: instant,
        reason: '',
        weight: state === 'failed' || state === 'timedOut' ? 1 : 0,
        lost: false,
      };
  }
}

function anEvent(event: RolloutEvent['event'], at = startedAt): RolloutEvent {
  return { at, event, policy: 'production', rollout: rolloutId, reason: 'a "reason"', by: 'daemon' };
}

async function keysOfPrefix(): Promise<readonly string[]> {
  return (await connection.commands.keys(`${keyPrefix}:*`)).sort();
}

/** A connection that sends each script twice, as ioredis does when the answer to the first was lost. */
function echoing(between: () => Promise<unknown> = async () => undefined) {
  let repeats = 0;
  const commands = new Proxy(connection.commands, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name !== 'evalsha' || typeof value !== 'function') return value;
      return async (...args: unknown[]) => {
        await Reflect.apply(value, target, args);
        await between();
        repeats += 1;
        return Reflect.apply(value, target, args);
      };
    },
  });
  return { commands, repeats: () => repeats };
}

/** A connection whose daemon dies before it activates what it has staged. */
function dyingBeforeActivation(commands: RedisConnection['commands']): RedisConnection['commands'] {
  return new Proxy(commands, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name !== 'evalsha' || typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        // Only activation names the policy's active pointer.
        if (args.some((arg) => typeof arg === 'string' && arg.endsWith(':active'))) {
          return Promise.reject(new Error('killed'));
        }
        return Reflect.apply(value, target, args);
      };
    },
  });
}
