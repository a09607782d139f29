import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FrozenPlan, RolloutStore } from '../../../../src/orchestrator/ports/rollout-store.ts';
import { makeMemoryRolloutStore } from '../../../../src/rehearsal/store/memory-rollout-store.ts';
import type { StoredView } from '../../../../src/rollout/model/rollout.ts';
import { anUpgrade, aRollout, startedAt } from '../../../support/builders.ts';
import { echoingCommands } from '../../../support/echoing-commands.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { aRedisStore } from '../../../support/redis/redis-adapters.ts';
import {
  admitted,
  anyProgress,
  aPlan,
  changeTo,
  ended,
  findUpgrade,
  intended,
  lanes,
  loadUpgrade,
  loadView,
  pendingOnes,
  range,
  rolloutChange,
  rolloutWith,
  saveUpgrade,
} from '../../../support/store/store-changes.ts';

const redis = useRedis();
const rolloutId = 'production-20260302-1';
const waveStates = ['waiting', 'awaitingApproval', 'open', 'soaking', 'passed'] as const;

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
    it('are fewer for each lane where there are many lanes, but at least two', async () => {
      const upgrades = pendingOnes(90, (index) => ({ lane: index % 3, wave: index < 45 ? 0 : 1 }));
      const { policy, ...others } = rolloutWith('passed', 'open');
      const rollout = { ...others, policy: { ...policy, concurrency: 50 } };
      await freeze({ rollout, upgrades, groups: lanes(200) });
      expect((await view()).candidates.map(({ pending }) => pending.length)).toEqual([20, 20, 20]);
      // 15 of the first wave, then 5 of the second.
      expect((await view()).candidates[0]?.pending.at(-1)).toEqual({ collectorId: 58, order: 58 });
      const more = aPlan([], { rollout: { ...rollout, rev: 2 }, groups: lanes(5_000) });
      expect(await store.join(more, 1, null)).toBe('saved');
      expect((await view()).candidates.map(({ pending }) => pending.length)).toEqual([2, 2, 2]);
    });

    it('are as many for each lane as slots are free, but at least two', async () => {
      const upgrades = pendingOnes(90, (index) => ({ lane: index % 3 }));
      const rollout = rolloutWith('open');
      const slots = rollout.policy.concurrency;
      await freeze({ rollout, upgrades, groups: lanes(3) });
      const inLanes = async () => (await view()).candidates.map(({ pending }) => pending.length);
      expect(await inLanes()).toEqual([slots, slots, slots]);
      for (let id = 1; id <= slots - 4; id += 1) await saveUpgrade(store, admitted(await load(id)));
      expect(await inLanes()).toEqual([4, 4, 4]);
      for (let id = slots - 3; id <= slots; id += 1) await saveUpgrade(store, admitted(await load(id)));
      expect(await inLanes()).toEqual([2, 2, 2]);
    });

    it('belong to every wave up to the last that has started, by lane, in plan order', async () => {
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

    it('include due retries, by lane, the longest due first', async () => {
      const dues = [5, 3, 9, 1, 2];
      const upgrades = dues.map((dueAt, index) =>
        anUpgrade(anyProgress('retrying', startedAt + dueAt), {
          collectorId: index + 1,
          order: index + 1,
          lane: index === 3 ? 12 : 7,
          collectorName: '"lane":4:4',
        }),
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
      await saveUpgrade(store, admitted(await load(5)));
      expect((await view({ now })).candidates[0]?.retries).toEqual([due(2), due(1)]);
    });

    it('include a due retry once, under its present lane, when its group is moved', async () => {
      const retrying = anUpgrade(anyProgress('retrying', startedAt), { collectorId: 1, order: 1, lane: 2 });
      await freeze({ rollout: aRollout(), upgrades: [retrying], groups: lanes(13) });
      const before = await load(1);
      const after = { ...before, identity: { ...before.identity, lane: 12 }, rev: before.rev + 1 };
      await saveUpgrade(store, { before, after, events: [] });
      const retries = [{ collectorId: 1, order: startedAt }];
      expect((await view()).candidates).toEqual([{ lane: 12, retries, pending: [] }]);
      await saveUpgrade(store, admitted(after));
      expect((await view()).candidates).toEqual([]);
    });
  });

  describe('counters', () => {
    it('return to zero even where fractions were added up', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(2) });
      await saveUpgrade(store, ended(await load(1), 'failed', 3_000.3));
      await saveUpgrade(store, ended(await load(2), 'failed', 0.1));
      for (const id of [1, 2])
        await saveUpgrade(store, changeTo(await load(id), anyProgress('withdrawn', startedAt)));
      expect((await view()).strata).toEqual([]);
      expect((await view()).waves[0]?.weight).toBe(0);
    });
  });

  it('stops an intent by a brake, or by a change since the create was decided (P4)', async () => {
    await freeze({ rollout: aRollout(), upgrades: pendingOnes(3) });
    const change = intended(await load(1));
    expect(await store.saveIntent(change, 2)).toBe('stale');
    expect((await load(1)).progress.state).toBe('pending');
    expect(await store.saveIntent(change, 1)).toBe('saved');
    expect(await store.saveRollout(rolloutChange(aRollout(), { state: 'paused' }), null)).toBe('saved');
    // A brake is named as one, whatever else has changed.
    expect(await store.saveIntent(intended(await load(2)), 1)).toBe('braked');
  });

  it('adds thousands of late joiners at once', async () => {
    await freeze({ rollout: aRollout(), upgrades: pendingOnes(2) });
    const many = range(1_200).map((id) =>
      anUpgrade({ state: 'pending' }, { collectorId: id + 100, order: id + 100, lane: 1 }),
    );
    const joining = aPlan(many, { rollout: aRollout({ rev: 2, plan: { groupsRev: 2 } }), groups: lanes(2) });
    expect(await store.join(joining, 1, 5)).toBe('saved');
    expect((await view()).waves[0]?.counts.pending).toBe(1_202);
    expect(await store.listUpgrades(rolloutId, { offset: 2, limit: 2_000 })).toEqual(many);
  });

  it('sets a returning collector to pending, in a rollout that no earlier reader can end (P9)', async () => {
    await freeze({ rollout: aRollout(), upgrades: pendingOnes(3) });
    for (const id of [1, 2]) await saveUpgrade(store, ended(await load(id), 'withdrawn', 0));
    const back = [1, 2].map(async (id) => changeTo(await load(id), { state: 'pending' }));
    expect(await store.rejoin(rolloutId, await Promise.all(back), 1)).toEqual([1, 2]);
    expect(inShort(await view())).toEqual({ 0: [1, 2, 3] });
    const ending = rolloutChange(aRollout(), { state: 'succeeded', endedAt: startedAt });
    expect(await store.saveRollout(ending, null)).toBe('stale');
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

  it('returns nothing for an unknown rollout', async () => {
    expect(await store.loadView(rolloutId, { now: 0, overdueBefore: 0, pageSize: 1 })).toBeUndefined();
    expect(await store.loadRollout(rolloutId)).toBeUndefined();
    expect(await store.loadGroups(rolloutId)).toBeUndefined();
    expect(await findUpgrade(store, 1)).toBeUndefined();
    expect(await store.loadUpgrades(rolloutId, [1, 2])).toEqual({ upgrades: [], unreadable: [] });
    expect(await store.listUpgrades(rolloutId, { offset: 0, limit: 9, state: 'failed' })).toEqual([]);
    expect(await store.listDue(rolloutId, 9)).toEqual([]);
    expect(await store.readEvents(rolloutId, { limit: 9 })).toEqual([]);
    const plan = aPlan([], { rollout: aRollout({ rev: 2 }) });
    expect(await store.saveRollout(rolloutChange(aRollout(), {}), null)).toBe('stale');
    expect(await store.replan(plan, 1)).toBe('stale');
    expect(await store.join(plan, 1, null)).toBe('stale');
  });

  function freeze(plan: Partial<FrozenPlan> & Pick<FrozenPlan, 'rollout' | 'upgrades'>) {
    return store.freeze({ groups: lanes(1), events: [], ...plan });
  }

  const view = (at?: Parameters<typeof loadView>[1]) => loadView(store, at);
  const load = (collectorId: number) => loadUpgrade(store, collectorId);
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
  return aRedisStore({ commands: echoingCommands(commands), keyPrefix });
}
