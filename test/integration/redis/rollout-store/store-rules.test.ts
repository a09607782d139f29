import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FrozenPlan, RolloutStore } from '../../../../src/orchestrator/ports/rollout-store.ts';
import { makeRedisRolloutStore } from '../../../../src/redis/rollout-store/rollout-store.ts';
import { makeMemoryRolloutStore } from '../../../../src/rehearsal/store/memory-rollout-store.ts';
import type { CapDomain } from '../../../../src/rollout/model/plan-groups.ts';
import type { Rollout, StoredView } from '../../../../src/rollout/model/rollout.ts';
import type { Upgrade, UpgradeProgress } from '../../../../src/rollout/model/upgrade.ts';
import { anUpgrade, aRollout, aWave, because, startedAt } from '../../../support/builders.ts';
import { echoingCommands } from '../../../support/echoing-commands.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import {
  admitted,
  anEvent,
  anyProgress,
  changeTo,
  ended,
  intended,
  lanes,
  pendingOnes,
  range,
  rolloutWith,
} from '../../../support/store/store-changes.ts';

const redis = useRedis();
const rolloutId = 'production-20260302-1';
const waveStates = ['waiting', 'awaitingApproval', 'open', 'soaking', 'passed'] as const;
const aCap = (cap: number): CapDomain => ({ label: `cap ${cap}`, cap });

// As it is in Redis, it is compared with its model in store-model.test.ts.
const stores: ReadonlyArray<readonly [name: string, make: () => RolloutStore]> = [
  ['in Redis, each script sent twice', makeEchoingStore],
  ['in memory', makeMemoryRolloutStore],
];

describe.each(stores)('the rollout store %s', (_name, makeStore) => {
  let store: RolloutStore;
  beforeEach(() => {
    store = makeStore();
  });

  describe('candidates', () => {
    it('are fewer of each lane where there are many lanes, but never fewer than two', async () => {
      const upgrades = pendingOnes(90, (index) => ({ lane: index % 3, wave: index < 45 ? 0 : 1 }));
      const rollout = rolloutWith('passed', 'open');
      await freeze({ rollout, upgrades, groups: lanes(200) });
      expect((await view()).candidates.map(({ pending }) => pending.length)).toEqual([20, 20, 20]);
      // 15 of the first wave, then 5 of the second.
      expect((await view()).candidates[0]?.pending.at(-1)).toEqual({ collectorId: 58, order: 58 });
      const more = { rollout: { ...rollout, rev: 2 }, upgrades: [], groups: lanes(5_000), events: [] };
      expect(await store.join(more, 1, null)).toBe('saved');
      expect((await view()).candidates.map(({ pending }) => pending.length)).toEqual([2, 2, 2]);
    });

    it('are those of every wave up to the last that has begun, by lane, in plan order', async () => {
      const place = fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 40 }));
      const states = fc.array(fc.constantFrom(...waveStates), { minLength: 4, maxLength: 4 });
      const pageSizes = fc.integer({ min: 0, max: 5 });
      await fc.assert(
        fc.asyncProperty(
          fc.array(place, { maxLength: 60 }),
          states,
          pageSizes,
          async (places, of, pageSize) => {
            store = makeStore();
            const upgrades = pendingOnes(places.length, (index) => {
              const [wave = 0, lane = 0] = places[index] ?? [];
              return { wave, lane };
            });
            await freeze({ rollout: rolloutWith(...of), upgrades, groups: lanes(41) });
            const last = of.findLastIndex((state) => state !== 'waiting' && state !== 'awaitingApproval');
            const begun = upgrades
              .map(({ identity }) => identity)
              .filter(({ wave }) => wave <= last)
              .sort((a, b) => a.wave - b.wave);
            const expected = [...new Set(begun.map(({ lane }) => lane))].map((lane) => {
              const its = begun.filter((each) => each.lane === lane);
              return [lane, its.map(({ collectorId }) => collectorId).slice(0, pageSize)] as const;
            });
            const shown = expected.filter(([, ids]) => ids.length > 0);
            expect(inShort(await view({ pageSize }))).toEqual(Object.fromEntries(shown));
          },
        ),
        { numRuns: 30 },
      );
    });

    it('are due retries as well, by lane, the longest due first', async () => {
      const dues = [5, 3, 9, 1, 2];
      const upgrades = dues.map((dueAt, index) =>
        anUpgrade(
          { state: 'retrying', dueAt: startedAt + dueAt, reason: because('') },
          {
            collectorId: index + 1,
            order: index + 1,
            lane: index === 3 ? 12 : 7,
            collectorName: '"lane":4:4',
          },
        ),
      );
      await freeze({ rollout: aRollout(), upgrades, groups: lanes(13) });
      const now = startedAt + 5;
      const due = (collectorId: number) => ({ collectorId, order: startedAt + (dues[collectorId - 1] ?? 0) });
      expect(await view({ now })).toMatchObject({
        candidates: [
          { lane: 7, retries: [due(5), due(2), due(1)], pending: [] },
          { lane: 12, retries: [due(4)], pending: [] },
        ],
        nextRetryAt: startedAt + 9,
      });
      expect((await view({ now, pageSize: 1 })).candidates.map(({ retries }) => retries)).toEqual([
        [due(5)],
        [due(4)],
      ]);
      await store.saveUpgrade(admitted(await load(5)), null);
      expect((await view({ now })).candidates[0]?.retries).toEqual([due(2), due(1)]);
    });
  });

  it('admits nobody beyond a cap, and those who have room (P2)', async () => {
    const of = [[0], [0], [1, 2], [1, 2], [1, 2], [2], [2], []];
    await freeze({
      rollout: aRollout(),
      upgrades: pendingOnes(8, (index) => ({ domains: of[index] ?? [] })),
    });
    expect(await admit(range(8), [aCap(1), aCap(2), aCap(3)])).toEqual([1, 3, 4, 6, 8]);
    expect([...(await view()).domainsTaken.values()]).toEqual([1, 2, 3]);
    expect((await view()).slotsTaken).toBe(5);
  });

  describe('what was learned', () => {
    it('is from the last create to the verification, by stratum, and stays when one is lost again', async () => {
      await freeze({
        rollout: aRollout(),
        upgrades: pendingOnes(4, (index) => ({ stratum: index === 2 ? 4 : 1 })),
      });
      for (const [index, tookMs] of [1_000, 2_000, 60_000].entries()) await verify(index + 1, tookMs);
      await store.saveUpgrade(ended(await load(1), 'unconfirmed', 3), null);
      await store.saveUpgrade(changeTo(await load(4), anyProgress('verifying', startedAt)), null);
      await store.saveUpgrade(ended(await load(4), 'failed', 1), null);
      const { learned, durations } = await view();
      expect(learned).toEqual({ count: 3, meanMs: 21_000 });
      expect(durations.get(1)).toEqual({ count: 2, p95Ms: 2_048 });
      expect(durations.get(4)?.count).toBe(1);
      expect(durations.get(4)?.p95Ms).toBeGreaterThanOrEqual(60_000);
    });

    async function verify(collectorId: number, tookMs: number): Promise<void> {
      const verified = startedAt + 60_000;
      const verifying = {
        ...anyProgress('verifying', verified),
        startedAt: verified - tookMs,
      } as UpgradeProgress;
      const change = changeTo(await load(collectorId), verifying);
      // Long before the last create: an attempt that failed.
      const after = { ...change.after, tally: { ...change.after.tally, firstStartedAt: 1 } };
      await store.saveUpgrade({ ...change, after }, null);
      await store.saveUpgrade(ended(await load(collectorId), 'succeeded', 0), null);
    }
  });

  describe('counters', () => {
    it('come back to nothing also where fractions were added up', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(2) });
      await store.saveUpgrade(ended(await load(1), 'failed', 3_000.3), null);
      await store.saveUpgrade(ended(await load(2), 'failed', 0.1), null);
      for (const id of [1, 2])
        await store.saveUpgrade(changeTo(await load(id), anyProgress('withdrawn', startedAt)), null);
      expect((await view()).strata).toEqual([]);
      expect((await view()).waves[0]?.weight).toBe(0);
    });

    it('know when an upgrade of the wave changed last, but not by what an end became', async () => {
      const lastChangeAt = async () => (await view()).waves[0]?.lastChangeAt;
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(2) });
      expect(await lastChangeAt()).toBeNull();
      await store.saveUpgrade(ended(await load(1), 'succeeded', 0), null);
      expect(await lastChangeAt()).toBe(startedAt + 60_000);
      const later = startedAt + 90_000;
      await store.saveUpgrade(changeTo(await load(1), anyProgress('unconfirmed', later), later), null);
      expect(await lastChangeAt()).toBe(startedAt + 60_000);
      await store.saveUpgrade(changeTo(await load(2), anyProgress('queued', later), later), null);
      expect(await lastChangeAt()).toBe(later);
      // An older event does not turn it back.
      await store.saveUpgrade(changeTo(await load(2), anyProgress('starting', later), startedAt), null);
      expect(await lastChangeAt()).toBe(later);
    });
  });

  describe('the brake', () => {
    beforeEach(() => freeze({ rollout: aRollout(), upgrades: pendingOnes(3) }));

    it('is set by a failure too many, and not by what becomes better', async () => {
      for (const id of [1, 2]) await store.saveUpgrade(ended(await load(id), 'failed', 1), null);
      await store.saveUpgrade(changeTo(await load(1), anyProgress('retrying', startedAt)), 0);
      expect((await view()).braked).toBe(false);
      await store.saveUpgrade(ended(await load(3), 'failed', 1), 1);
      expect(await view()).toMatchObject({ braked: true, rollout: { rev: 2 } });
    });

    it('is lifted only by a change that has seen it, and set again only by another failure', async () => {
      await store.saveUpgrade(ended(await load(1), 'failed', 1), 0);
      const save = (rev: number, brake: 'keep' | 'lift') => {
        const rollout = aRollout({ rev: rev + 1, reason: because(brake) });
        return store.saveRollout({ rollout, expectedRev: rev, events: [], brake }, null);
      };
      expect(await save(1, 'lift')).toBe('stale');
      expect(await save(2, 'keep')).toBe('saved');
      expect((await view()).braked).toBe(true);
      expect(await save(3, 'lift')).toBe('saved');
      await store.saveUpgrade(ended(await load(2), 'succeeded', 0), 0);
      expect((await view()).braked).toBe(false);
    });

    it('stops an intent, as does a change of the rollout since the create was found to be right (P4)', async () => {
      const change = intended(await load(1));
      expect(await store.saveIntent(change, 2)).toBe('stale');
      expect((await load(1)).progress.state).toBe('pending');
      expect(await store.saveIntent(change, 1)).toBe('saved');
      await save(aRollout({ state: 'paused' }));
      // A brake is named as one, whatever else has changed.
      expect(await store.saveIntent(intended(await load(2)), 1)).toBe('braked');
    });
  });

  it('has a rollback beside the rollout that it takes back, but not beside another one', async () => {
    const back = aRollout({
      id: 'production-20260302-2',
      kind: 'rollback',
      rollbackOf: rolloutId,
      createdAt: startedAt + 1,
    });
    await freeze({ rollout: aRollout(), upgrades: pendingOnes(1) });
    expect(await freeze({ rollout: back, upgrades: [] })).toBe('frozen');
    expect(await store.activeRolloutIds(['other', 'production'])).toEqual([rolloutId, back.id]);
    expect((await store.listRollouts(['production'])).map(({ id }) => id)).toEqual([back.id, rolloutId]);
    const third = 'production-20260302-3';
    expect(await freeze({ rollout: { ...back, id: third }, upgrades: [] })).toBe('busy');
    expect(await freeze({ rollout: aRollout({ id: third }), upgrades: [] })).toBe('busy');
    expect(await store.nextRolloutNumber('production', '20260302')).toBe(3);
    await save({ ...back, state: 'succeeded', endedAt: startedAt });
    expect(await store.activeRolloutIds(['production'])).toEqual([rolloutId]);
  });

  describe('a rollout that is over', () => {
    const over = aRollout({ state: 'succeeded', endedAt: startedAt });
    const anew = { ...over, state: 'running', endedAt: null, rev: 3 } as const;
    const reopen = () =>
      store.saveRollout({ rollout: anew, expectedRev: 2, events: [], brake: 'keep' }, null);
    beforeEach(async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(1) });
      await save(over);
    });

    it('is active again when it is saved without its end', async () => {
      expect(await store.activeRolloutIds(['production'])).toEqual([]);
      expect(await reopen()).toBe('saved');
      expect(await store.activeRolloutIds(['production'])).toEqual([rolloutId]);
      expect(await admit([1], [], 3)).toEqual([1]);
    });

    it('stays over while the policy has another one, and does not end that by being saved again', async () => {
      const next = aRollout({ id: 'production-20260302-2' });
      await freeze({ rollout: next, upgrades: [] });
      expect(await reopen()).toBe('stale');
      expect((await store.loadRollout(rolloutId))?.endedAt).toBe(startedAt);
      const again = { ...over, reason: because('seen'), rev: 3 };
      const save = { rollout: again, expectedRev: 2, events: [], brake: 'keep' } as const;
      expect(await store.saveRollout(save, null)).toBe('saved');
      expect(await store.activeRolloutIds(['production'])).toEqual([next.id]);
    });
  });

  describe('another plan in the place of one that waits for approval', () => {
    const waiting = aRollout({ state: 'awaitingApproval', waves: [aWave({ state: 'waiting' })] });
    const anew: FrozenPlan = {
      rollout: { ...waiting, planHash: 'beef', rev: 2, waves: [aWave({ state: 'waiting', size: 4 })] },
      upgrades: pendingOnes(4, (index) => ({ collectorId: index + 3, lane: 2, collectorName: 'new' })),
      groups: lanes(3),
      events: [anEvent('rollout.awaitingApproval', startedAt + 1)],
    };

    it('takes the place of all there was', async () => {
      const running = anUpgrade(anyProgress('starting', startedAt), { collectorId: 9, order: 9 });
      await freeze({
        rollout: waiting,
        upgrades: [...pendingOnes(5), running],
        events: [anEvent('rollout.planned')],
      });
      expect((await view()).groups).toEqual(lanes(1));
      expect(await store.replan(anew, 1)).toBe('saved');
      expect(await store.loadRollout(rolloutId)).toEqual(anew.rollout);
      expect(await list()).toEqual(anew.upgrades);
      const after = await view({ overdueBefore: startedAt + 1 });
      expect(after).toMatchObject({ groups: anew.groups, overdue: [], slotsTaken: 0 });
      expect(after.waves[0]?.counts).toMatchObject({ pending: 4, starting: 0 });
      expect(await store.countFreshIntents(rolloutId, 3_600_000)).toBe(0);
      const events = await store.readEvents(rolloutId, { limit: 9 });
      expect(events.map(({ at }) => at)).toEqual([startedAt + 1, startedAt]);
    });

    it('is refused when the rollout has changed, or waits no longer', async () => {
      await freeze({ rollout: waiting, upgrades: pendingOnes(2) });
      expect(await store.replan(anew, 2)).toBe('stale');
      await save({ ...waiting, state: 'running' });
      const late = { ...anew, rollout: { ...anew.rollout, rev: 3 } };
      expect(await store.replan(late, 2)).toBe('stale');
      expect(await list()).toEqual(pendingOnes(2));
      expect(await store.loadGroups(rolloutId)).toEqual(lanes(1));
    });
  });

  describe('late joiners', () => {
    const joiner = (collectorId: number, domains: readonly number[] = []) =>
      anUpgrade({ state: 'pending' }, { collectorId, order: collectorId, lane: 1, domains });
    const joining = (changes: Partial<FrozenPlan> = {}): FrozenPlan => ({
      rollout: aRollout({ rev: 2, groupsRev: 2, waves: [aWave({ joined: 2 })] }),
      upgrades: [joiner(11, [1]), joiner(12)],
      groups: lanes(2),
      events: [anEvent('wave.opened', startedAt + 1)],
      ...changes,
    });
    beforeEach(() => freeze({ rollout: aRollout(), upgrades: pendingOnes(2) }));

    it('are in the plan with the rollout and the groups that know them', async () => {
      expect((await view()).groups).toEqual(lanes(1));
      expect(await store.join(joining(), 1, 5)).toBe('saved');
      expect(await store.loadRollout(rolloutId)).toEqual(joining().rollout);
      expect(await store.loadGroups(rolloutId)).toEqual(lanes(2));
      expect(await list()).toEqual([...pendingOnes(2), joiner(11, [1]), joiner(12)]);
      expect((await view()).groups).toEqual(lanes(2));
      expect(inShort(await view())).toEqual({ 0: [1, 2], 1: [11, 12] });
      expect(await store.readEvents(rolloutId, { limit: 9 })).toHaveLength(1);
      expect(await admit([11, 12], [aCap(1), aCap(0)], 2)).toEqual([12]);
    });

    it('are left out where they have a record already', async () => {
      await store.saveUpgrade(ended(await load(2), 'failed', 1), null);
      expect(await store.join(joining({ upgrades: [joiner(2), joiner(12)] }), 1, null)).toBe('saved');
      expect(await load(2)).toMatchObject({ progress: { state: 'failed' }, identity: { lane: 0 } });
      expect(inShort(await view())).toEqual({ 0: [1], 1: [12] });
    });

    it('are refused when the rollout has changed, or another leads', async () => {
      expect(await store.join(joining(), 2, null)).toBe('stale');
      await save(aRollout({ reason: because('seen') }), 7);
      const next = joining({ rollout: aRollout({ rev: 3 }) });
      expect(await store.join(next, 2, 6)).toBe('stale');
      expect(await list()).toEqual(pendingOnes(2));
      expect(await store.loadGroups(rolloutId)).toEqual(lanes(1));
      expect(await store.join(next, 2, 7)).toBe('saved');
    });

    it('may be thousands', async () => {
      const many = range(1_200).map((id) => joiner(id + 100));
      expect(await store.join(joining({ upgrades: many }), 1, null)).toBe('saved');
      expect((await view()).waves[0]?.counts.pending).toBe(1_202);
      expect(await store.listUpgrades(rolloutId, { offset: 2, limit: 2_000 })).toEqual(many);
    });
  });

  describe('a collector that rejoins', () => {
    const back = async (id: number) => changeTo(await load(id), { state: 'pending' });
    const over = aRollout({ state: 'succeeded', endedAt: startedAt });
    beforeEach(async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(3) });
      for (const id of [1, 2]) await store.saveUpgrade(ended(await load(id), 'withdrawn', 0), null);
    });

    it('is pending again, in a rollout that nobody ends who read it before (P9)', async () => {
      expect(await store.rejoin(rolloutId, [await back(1), await back(2)], 1)).toEqual([1, 2]);
      expect(inShort(await view())).toEqual({ 0: [1, 2, 3] });
      const ending = { rollout: { ...over, rev: 2 }, expectedRev: 1, events: [], brake: 'keep' } as const;
      expect(await store.saveRollout(ending, null)).toBe('stale');
    });

    it('stays withdrawn when the rollout has moved on (P9)', async () => {
      const changes = [await back(1)];
      await save(over);
      expect(await store.rejoin(rolloutId, changes, 1)).toEqual([]);
      expect((await load(1)).progress.state).toBe('withdrawn');
      expect((await store.loadRollout(rolloutId))?.rev).toBe(2);
    });
  });

  it('lists a wave of thousands among the others', async () => {
    const upgrades = pendingOnes(2_600, (index) => ({ wave: index % 2 }));
    await freeze({ rollout: rolloutWith('open', 'open'), upgrades });
    const ids = async (offset: number, limit: number) =>
      (await store.listUpgrades(rolloutId, { offset, limit, wave: 1 })).map(
        ({ identity: { collectorId } }) => collectorId,
      );
    expect(await ids(1_100, 3)).toEqual([2_202, 2_204, 2_206]);
    expect(await ids(498, 4)).toEqual([998, 1_000, 1_002, 1_004]);
    expect(await ids(1_298, 9)).toEqual([2_598, 2_600]);
  });

  it('knows nothing of a rollout that is not there', async () => {
    expect(await store.loadView(rolloutId, { now: 0, overdueBefore: 0, pageSize: 1 })).toBeUndefined();
    expect(await store.loadRollout(rolloutId)).toBeUndefined();
    expect(await store.loadGroups(rolloutId)).toBeUndefined();
    expect(await store.loadUpgrade(rolloutId, 1)).toBeUndefined();
    expect(await store.loadUpgrades(rolloutId, [1, 2])).toEqual({ upgrades: [], unreadable: [] });
    expect(await store.listUpgrades(rolloutId, { offset: 0, limit: 9, state: 'failed' })).toEqual([]);
    expect(await store.listDue(rolloutId, 9)).toEqual([]);
    expect(await store.readEvents(rolloutId, { limit: 9 })).toEqual([]);
    const plan = { rollout: aRollout({ rev: 2 }), upgrades: [], groups: lanes(1), events: [] };
    expect(await store.saveRollout({ ...plan, expectedRev: 1, brake: 'keep' }, null)).toBe('stale');
    expect(await store.replan(plan, 1)).toBe('stale');
    expect(await store.join(plan, 1, null)).toBe('stale');
  });

  function freeze(plan: Partial<FrozenPlan> & Pick<FrozenPlan, 'rollout' | 'upgrades'>) {
    return store.freeze({ groups: lanes(1), events: [], ...plan });
  }

  async function view(at: Partial<Parameters<RolloutStore['loadView']>[1]> = {}): Promise<StoredView> {
    const now = { now: startedAt, overdueBefore: startedAt, pageSize: 100 };
    const seen = await store.loadView(rolloutId, { ...now, ...at });
    if (seen === undefined) throw new Error('there is no rollout');
    return seen;
  }

  async function load(collectorId: number): Promise<Upgrade> {
    const upgrade = await store.loadUpgrade(rolloutId, collectorId);
    if (upgrade === undefined) throw new Error(`there is no collector ${collectorId}`);
    return upgrade;
  }

  function list(): Promise<readonly Upgrade[]> {
    return store.listUpgrades(rolloutId, { offset: 0, limit: 99 });
  }

  async function save(rollout: Rollout, fence: number | null = null): Promise<void> {
    const change = { rollout: { ...rollout, rev: 2 }, expectedRev: 1, events: [], brake: 'keep' } as const;
    expect(await store.saveRollout(change, fence)).toBe('saved');
  }

  async function admit(
    ids: readonly number[],
    domains: readonly CapDomain[],
    rolloutRev = 1,
  ): Promise<readonly number[]> {
    const changes = (await store.loadUpgrades(rolloutId, ids)).upgrades.map(admitted);
    return store.admit({ rolloutId, rolloutRev, slots: 9, domains, changes }, 9);
  }
});

function inShort({ candidates }: StoredView): Record<number, readonly number[]> {
  return Object.fromEntries(
    candidates.map(({ lane, retries, pending }) => [
      lane,
      [...retries, ...pending].map(({ collectorId }) => collectorId),
    ]),
  );
}

function makeEchoingStore(): RolloutStore {
  const { commands, keyPrefix } = redis.place();
  return makeRedisRolloutStore({ commands: echoingCommands(commands).commands, keyPrefix });
}
