import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FrozenPlan, RolloutStore } from '../../../../src/orchestrator/ports/rollout-store.ts';
import { makeRedisRolloutStore } from '../../../../src/redis/rollout-store/rollout-store.ts';
import type { CapDomain, PlanGroups } from '../../../../src/rollout/model/plan-groups.ts';
import type { LaneQueue, Rollout, StoredView, WaveState } from '../../../../src/rollout/model/rollout.ts';
import {
  holdsSlot,
  isLost,
  isOnBuild,
  type Upgrade,
  type UpgradeProgress,
  type UpgradeState,
  upgradeStates,
  weightOf,
} from '../../../../src/rollout/model/upgrade.ts';
import {
  anUpgrade,
  aRollout,
  aWave,
  because,
  startedAt,
  type UpgradeFigures,
} from '../../../support/builders.ts';
import { echoingCommands } from '../../../support/echoing-commands.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { makeMemoryRolloutStore } from '../../../support/store/memory-rollout-store.ts';
import {
  admitted,
  anEvent,
  anyProgress,
  changeTo,
  ended,
  intended,
  pendingOnes,
  range,
} from '../../../support/store/store-changes.ts';

const redis = useRedis();
const rolloutId = 'production-20260302-1';
let connection: ReturnType<typeof redis.connect> | undefined;

// In Redis as it is, it is compared with its model below.
const stores: ReadonlyArray<readonly [name: string, make: () => RolloutStore]> = [
  ['in Redis, each script sent twice', () => makeRedisStore(true)],
  ['in memory', makeMemoryRolloutStore],
];

describe.each(stores)('the rollout store %s', (_name, makeStore) => {
  let store: RolloutStore;
  beforeEach(() => {
    store = makeStore();
  });

  describe('candidates', () => {
    it('are of the waves that have begun, by lane, in plan order', async () => {
      const upgrades = pendingOnes(8, (index) => ({
        wave: index < 4 ? 0 : 1,
        lane: index % 2,
        order: 20 - index,
      }));
      await freeze({ rollout: rolloutWith('soaking', 'waiting'), upgrades, groups: lanes(2) });
      expect(inShort(await view())).toEqual({ 0: [3, 1], 1: [4, 2] });
      await save(rolloutWith('passed', 'open'));
      // Both waves of a lane are one queue, and the earlier one goes first whatever the places are.
      expect(inShort(await view())).toEqual({ 0: [3, 1, 7, 5], 1: [4, 2, 8, 6] });
      expect((await view()).candidates[0]?.pending[0]).toEqual({ collectorId: 3, order: 18 });
    });

    it.each<[WaveState, number]>([
      ['waiting', 0],
      ['awaitingApproval', 0],
      ['open', 1],
      ['soaking', 1],
      ['passed', 1],
    ])('of a wave that is %s: %d', async (state, count) => {
      await freeze({ rollout: rolloutWith(state), upgrades: pendingOnes(1) });
      expect((await view()).candidates).toHaveLength(count);
    });

    it('are up to the last wave that has begun, also when one before it has not', async () => {
      const upgrades = pendingOnes(3, (index) => ({ wave: index }));
      await freeze({ rollout: rolloutWith('waiting', 'open', 'waiting'), upgrades });
      expect(inShort(await view())).toEqual({ 0: [1, 2] });
    });

    it('are bounded by lane, so that one lane hides no other', async () => {
      const upgrades = pendingOnes(30, (index) => ({ lane: index < 25 ? 0 : index - 22 }));
      await freeze({ rollout: aRollout(), upgrades, groups: lanes(8) });
      const shown = inShort(await view({ pageSize: 3 }));
      expect(shown).toEqual({ 0: [1, 2, 3], 3: [26], 4: [27], 5: [28], 6: [29], 7: [30] });
      expect(inShort(await view({ pageSize: 0 }))).toEqual({});
    });

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

    it('are found in every lane, of one collector or many', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 40 })), {
            maxLength: 60,
          }),
          fc.integer({ min: 1, max: 5 }),
          async (places, pageSize) => {
            store = makeStore();
            const upgrades = pendingOnes(places.length, (index) => {
              const [wave = 0, lane = 0] = places[index] ?? [];
              return { wave, lane };
            });
            await freeze({
              rollout: rolloutWith('passed', 'passed', 'open', 'waiting'),
              upgrades,
              groups: lanes(41),
            });
            const expected: Record<number, readonly number[]> = {};
            for (const lane of new Set(
              upgrades.filter(({ identity: { wave } }) => wave < 3).map((u) => u.identity.lane),
            )) {
              const its = upgrades.filter((u) => u.identity.lane === lane && u.identity.wave < 3);
              its.sort((a, b) => a.identity.wave - b.identity.wave || a.identity.order - b.identity.order);
              expected[lane] = its.map(({ identity: { collectorId } }) => collectorId).slice(0, pageSize);
            }
            expect(inShort(await view({ pageSize }))).toEqual(expected);
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

  describe('what is due at an instant', () => {
    it('is listed with the earliest first, without who waits for its turn, is retried or has ended', async () => {
      const dues = { queued: 4, starting: 3, upgrading: 9, verifying: 1, deferred: 7, retrying: 2 } as const;
      const states: readonly UpgradeState[] = ['pending', 'succeeded', ...upgradeStates.slice(1, 7)];
      const upgrades = states.map((state, index) =>
        anUpgrade(anyProgress(state, startedAt + (state in dues ? dues[state as keyof typeof dues] : 0)), {
          collectorId: index + 1,
          order: index + 1,
        }),
      );
      await freeze({ rollout: aRollout(), upgrades });
      const listed = async (limit: number) =>
        (await store.listDue(rolloutId, limit)).map(({ progress: { state } }) => state);
      expect(await listed(9)).toEqual(['verifying', 'starting', 'queued', 'deferred', 'upgrading']);
      expect(await listed(2)).toEqual(['verifying', 'starting']);
      expect(await listed(0)).toEqual([]);
      expect(await store.listDue('production-20260302-9', 9)).toEqual([]);
    });
  });

  describe('admission under caps', () => {
    const domains: readonly CapDomain[] = [
      { label: 'fields.cluster = a', cap: 1 },
      { label: 'fields.cluster = b', cap: 2 },
      { label: 'category = c', cap: 3 },
    ];

    it('refuses who is beyond a cap, and admits the others (P2)', async () => {
      const of = [[0], [0], [1, 2], [1, 2], [1, 2], [2], [2], []];
      await freeze({
        rollout: aRollout(),
        upgrades: pendingOnes(8, (index) => ({ domains: of[index] ?? [] })),
      });
      expect(await admit(range(8), domains)).toEqual([1, 3, 4, 6, 8]);
      expect((await view()).domainsTaken).toEqual(
        new Map([
          [0, 1],
          [1, 2],
          [2, 3],
        ]),
      );
      expect((await view()).slotsTaken).toBe(5);
    });

    it('gives a place back when the service is done with its collector', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(2, { domains: [0] }) });
      expect(await admit([1, 2], domains)).toEqual([1]);
      await store.saveUpgrade(changeTo(await load(1), anyProgress('upgrading', startedAt)), null);
      expect(await admit([2], domains)).toEqual([]);
      await store.saveUpgrade(changeTo(await load(1), anyProgress('verifying', startedAt)), null);
      expect((await view()).domainsTaken).toEqual(new Map());
      expect(await admit([2], domains)).toEqual([2]);
    });

    it('is by slots as well', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(4, { domains: [2] }) });
      expect(await admit(range(4), domains, 2)).toEqual([1, 2]);
    });
  });

  describe('what was learned', () => {
    it('is from the last create to the proof, by stratum', async () => {
      const took = [1_000, 2_000, 60_000];
      await freeze({
        rollout: aRollout(),
        upgrades: pendingOnes(3, (index) => ({ stratum: index === 2 ? 4 : 1 })),
      });
      for (const [index, tookMs] of took.entries()) await verify(index + 1, tookMs);
      const { learned, durations } = await view();
      expect(learned).toEqual({ count: 3, meanMs: 21_000 });
      expect(new Set(durations.keys())).toEqual(new Set([1, 4]));
      expect(durations.get(1)).toEqual({ count: 2, p95Ms: 2_048 });
      expect(durations.get(4)?.count).toBe(1);
      expect(durations.get(4)?.p95Ms).toBeGreaterThanOrEqual(60_000);
    });

    it('is of proofs only, and stays when one is lost again', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(2) });
      await verify(1, 5_000);
      await store.saveUpgrade(ended(await load(1), 'unconfirmed', 3), null);
      await store.saveUpgrade(changeTo(await load(2), anyProgress('verifying', startedAt)), null);
      await store.saveUpgrade(ended(await load(2), 'failed', 1), null);
      expect((await view()).learned).toEqual({ count: 1, meanMs: 5_000 });
      expect((await view()).durations.get(0)?.count).toBe(1);
    });

    async function verify(collectorId: number, tookMs: number): Promise<void> {
      const proven = startedAt + 60_000;
      const verifying = {
        ...anyProgress('verifying', proven),
        startedAt: proven - tookMs,
      } as UpgradeProgress;
      const change = changeTo(await load(collectorId), verifying);
      // Long before the last create: an attempt that failed.
      const after = { ...change.after, tally: { ...change.after.tally, firstStartedAt: 1 } };
      await store.saveUpgrade({ ...change, after }, null);
      await store.saveUpgrade(ended(await load(collectorId), 'succeeded', 0), null);
    }
  });

  describe('counters', () => {
    it('follow a failure that is tried again', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(2, { stratum: 3 }) });
      for (const id of [1, 2]) await store.saveUpgrade(ended(await load(id), 'unconfirmed', 0.3), null);
      expect((await view()).strata).toEqual([
        { stratum: 3, wave: 0, waiting: 0, active: 0, succeeded: 0, failed: 2, weight: 0.6 },
      ]);
      for (const id of [1, 2])
        await store.saveUpgrade(changeTo(await load(id), anyProgress('retrying', startedAt)), null);
      expect((await view()).strata).toEqual([
        { stratum: 3, wave: 0, waiting: 2, active: 0, succeeded: 0, failed: 0, weight: 0 },
      ]);
      expect((await view()).waves[0]).toMatchObject({ weight: 0, lost: 0 });
    });

    it('come back to nothing also where fractions were added up', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(3) });
      for (const [id, weight] of [
        [1, 3_000.3],
        [2, 0.1],
      ] as const)
        await store.saveUpgrade(ended(await load(id), 'failed', weight), null);
      for (const id of [1, 2])
        await store.saveUpgrade(changeTo(await load(id), anyProgress('withdrawn', startedAt)), null);
      await store.saveUpgrade(changeTo(await load(3), anyProgress('withdrawn', startedAt)), null);
      expect((await view()).strata).toEqual([]);
      expect((await view()).waves[0]?.weight).toBe(0);
    });

    it('do not set the brake for what becomes better', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(3) });
      for (const id of [1, 2]) await store.saveUpgrade(ended(await load(id), 'failed', 1), null);
      await store.saveUpgrade(changeTo(await load(1), anyProgress('retrying', startedAt)), 0);
      expect((await view()).braked).toBe(false);
      await store.saveUpgrade(ended(await load(3), 'failed', 1), 1);
      expect(await view()).toMatchObject({ braked: true, rollout: { rev: 2 } });
    });

    it('know when an upgrade of the wave changed last, but not by what an end became', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(2) });
      expect((await view()).waves[0]?.lastChangeAt).toBeNull();
      await store.saveUpgrade(ended(await load(1), 'succeeded', 0), null);
      expect((await view()).waves[0]?.lastChangeAt).toBe(startedAt + 60_000);
      const later = startedAt + 90_000;
      const regressed = {
        state: 'unconfirmed',
        endedAt: later,
        reason: because(''),
        weight: 3,
        lost: true,
      } as const;
      await store.saveUpgrade(changeTo(await load(1), regressed, later), null);
      expect((await view()).waves[0]).toMatchObject({ lastChangeAt: startedAt + 60_000, lost: 1 });
      await store.saveUpgrade(changeTo(await load(2), anyProgress('queued', later), later), null);
      expect((await view()).waves[0]?.lastChangeAt).toBe(later);
      // An older event does not turn it back.
      await store.saveUpgrade(changeTo(await load(2), anyProgress('starting', later), startedAt), null);
      expect((await view()).waves[0]?.lastChangeAt).toBe(later);
    });
  });

  describe('those that ended without success', () => {
    const idsOf = async (kind: 'failed' | 'withdrawn' | 'retrying', limit = 10) =>
      (await store.listMissed(rolloutId, { kind, limit })).map(
        ({ identity: { collectorId } }) => collectorId,
      );

    it('are listed by kind, newest first, and are listed no more when they go on', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(5) });
      const end = async (id: number, state: UpgradeState, at: number) =>
        store.saveUpgrade(changeTo(await load(id), anyProgress(state, startedAt + at)), null);
      await end(1, 'failed', 10);
      await end(2, 'unconfirmed', 30);
      await end(3, 'timedOut', 20);
      await end(4, 'withdrawn', 40);
      await end(5, 'succeeded', 50);
      expect(await idsOf('failed')).toEqual([2, 3, 1]);
      expect(await idsOf('failed', 2)).toEqual([2, 3]);
      expect(await idsOf('failed', 0)).toEqual([]);
      expect(await idsOf('withdrawn')).toEqual([4]);
      await end(2, 'retrying', 60);
      await end(4, 'pending', 60);
      expect(await idsOf('failed')).toEqual([3, 1]);
      expect(await idsOf('withdrawn')).toEqual([]);
      await end(1, 'retrying', 50);
      expect(await idsOf('retrying')).toEqual([1, 2]);
      expect(await idsOf('retrying', 1)).toEqual([1]);
      expect(await idsOf('retrying', 0)).toEqual([]);
    });

    it('are known of a plan that begins with some, and of late joiners', async () => {
      const failed = anUpgrade(anyProgress('failed', startedAt), { collectorId: 1 });
      await freeze({ rollout: aRollout(), upgrades: [failed] });
      const joiner = anUpgrade(anyProgress('timedOut', startedAt + 1), { collectorId: 2, order: 2 });
      const more = { rollout: aRollout({ rev: 2 }), upgrades: [joiner], groups: lanes(1), events: [] };
      expect(await store.join(more, 1, null)).toBe('saved');
      expect(await idsOf('failed')).toEqual([2, 1]);
    });
  });

  describe('the intent before a create', () => {
    it('is refused when the rollout has changed since the create was found to be right (P4)', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(2) });
      const change = intended(await load(1));
      expect(await store.saveIntent(change, 2)).toBe('stale');
      expect((await load(1)).progress.state).toBe('pending');
      expect(await store.saveIntent(change, 1)).toBe('saved');
      await save(aRollout({ state: 'paused' }));
      // A brake is named as one, whatever else has changed.
      expect(await store.saveIntent(intended(await load(2)), 1)).toBe('braked');
    });
  });

  describe('a rollback', () => {
    const back = aRollout({
      id: 'production-20260302-2',
      kind: 'rollback',
      rollbackOf: rolloutId,
      createdAt: startedAt + 1,
    });

    it('is active beside the rollout that it takes back, but not beside another one', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(1) });
      expect(await freeze({ rollout: back, upgrades: pendingOnes(1, { rolloutId: back.id }) })).toBe(
        'frozen',
      );
      expect(await store.activeRolloutIds(['other', 'production'])).toEqual([rolloutId, back.id]);
      expect((await store.listRollouts(['production'])).map(({ id }) => id)).toEqual([back.id, rolloutId]);
      const third = 'production-20260302-3';
      expect(await freeze({ rollout: { ...back, id: third }, upgrades: [] })).toBe('busy');
      expect(await freeze({ rollout: aRollout({ id: third }), upgrades: [] })).toBe('busy');
      expect(await store.nextRolloutNumber('production', '20260302')).toBe(3);
    });

    it('ends by itself', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(1) });
      await freeze({ rollout: back, upgrades: pendingOnes(1, { rolloutId: back.id }) });
      await save({ ...back, state: 'succeeded', endedAt: startedAt });
      expect(await store.activeRolloutIds(['production'])).toEqual([rolloutId]);
      await save(aRollout({ state: 'rolledBack', endedAt: startedAt }));
      expect(await store.activeRolloutIds(['production'])).toEqual([]);
    });
  });

  describe('a rollout that is over', () => {
    const over = aRollout({ state: 'succeeded', endedAt: startedAt, rev: 2 });
    const anew = { ...over, state: 'running', endedAt: null, rev: 3 } as const;
    const reopen = () =>
      store.saveRollout({ rollout: anew, expectedRev: 2, events: [], brake: 'keep' }, null);

    it('is active again when it is saved without its end', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(1) });
      await save(over);
      expect(await store.activeRolloutIds(['production'])).toEqual([]);
      expect(await reopen()).toBe('saved');
      expect(await store.activeRolloutIds(['production'])).toEqual([rolloutId]);
      expect(await admit([1], [], 1, 3)).toEqual([1]);
    });

    it('stays over while the policy has another one', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(1) });
      await save(over);
      const next = aRollout({ id: 'production-20260302-2' });
      await freeze({ rollout: next, upgrades: [] });
      expect(await reopen()).toBe('stale');
      expect((await store.loadRollout(rolloutId))?.endedAt).toBe(startedAt);
      expect(await store.activeRolloutIds(['production'])).toEqual([next.id]);
    });

    it('keeps its id to itself', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(1) });
      await save(over);
      expect(await freeze({ rollout: aRollout(), upgrades: pendingOnes(2) })).toBe('busy');
      expect(await store.loadRollout(rolloutId)).toEqual(over);
    });

    it('does not end another one by being saved again', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(1) });
      await save(over);
      const next = aRollout({ id: 'production-20260302-2' });
      await freeze({ rollout: next, upgrades: [] });
      const again = { rollout: { ...over, reason: because('seen'), rev: 3 }, expectedRev: 2, events: [] };
      expect(await store.saveRollout({ ...again, brake: 'keep' }, null)).toBe('saved');
      expect(await store.activeRolloutIds(['production'])).toEqual([next.id]);
    });
  });

  describe('another plan in the place of one that waits for approval', () => {
    const waiting = aRollout({ state: 'awaitingApproval', waves: [aWave({ state: 'waiting' })] });
    const anew: FrozenPlan = {
      rollout: { ...waiting, planHash: 'beef', rev: 2, waves: [aWave({ state: 'waiting', size: 4 })] },
      upgrades: pendingOnes(4, (index) => ({
        collectorId: index + 3,
        lane: 2,
        stratum: 1,
        collectorName: 'new',
      })),
      groups: lanes(3),
      events: [anEvent('rollout.awaitingApproval', startedAt + 1)],
    };

    it('takes the place of all there was', async () => {
      const old = pendingOnes(5, { domains: [0] });
      await freeze({
        rollout: waiting,
        upgrades: [...old, anUpgrade(anyProgress('starting', startedAt), { collectorId: 9, order: 9 })],
        events: [anEvent('rollout.planned')],
      });
      expect((await view()).groups).toEqual(lanes(1));
      expect(await store.replan(anew, 1)).toBe('saved');
      expect(await store.loadRollout(rolloutId)).toEqual(anew.rollout);
      expect(await store.listUpgrades(rolloutId, { offset: 0, limit: 99 })).toEqual(anew.upgrades);
      expect(await store.listUpgrades(rolloutId, { offset: 0, limit: 99, state: 'pending' })).toHaveLength(4);
      expect(await store.loadUpgrade(rolloutId, 1)).toBeUndefined();
      const after = await view({ overdueBefore: startedAt + 1 });
      expectCounted(after, anew.upgrades);
      expect(after.groups).toEqual(anew.groups);
      expect(after.overdue).toEqual([]);
      expect(await store.countFreshIntents(rolloutId, 3_600_000)).toBe(0);
      expect((await store.readEvents(rolloutId, { limit: 9 })).map(({ at }) => at)).toEqual([
        startedAt + 1,
        startedAt,
      ]);
      expect(await store.activeRolloutIds(['production'])).toEqual([rolloutId]);
      // The caller that lost its connection tries again.
      expect(await store.replan(anew, 1)).toBe('saved');
      expect(await store.readEvents(rolloutId, { limit: 9 })).toHaveLength(2);
    });

    it('is refused when the rollout has changed, or waits no longer', async () => {
      await freeze({ rollout: waiting, upgrades: pendingOnes(2) });
      expect(await store.replan(anew, 2)).toBe('stale');
      await save({ ...waiting, state: 'running' });
      const late = { ...anew, rollout: { ...anew.rollout, rev: 3 } };
      expect(await store.replan(late, 2)).toBe('stale');
      expect(await store.replan(anew, 1)).toBe('stale');
      const unknown = { ...anew, rollout: aRollout({ id: 'other-20260302-1' }) };
      expect(await store.replan(unknown, 1)).toBe('stale');
      expect(await store.listUpgrades(rolloutId, { offset: 0, limit: 99 })).toEqual(pendingOnes(2));
      expect(await store.loadGroups(rolloutId)).toEqual(lanes(1));
    });
  });

  describe('late joiners', () => {
    const joiner = (collectorId: number, changes: Partial<UpgradeFigures> = {}) =>
      anUpgrade({ state: 'pending' }, { collectorId, order: collectorId, lane: 1, stratum: 1, ...changes });
    const joining = (changes: Partial<FrozenPlan> = {}): FrozenPlan => ({
      rollout: aRollout({ rev: 2, groupsRev: 2, waves: [aWave({ joined: 2 })] }),
      upgrades: [joiner(11, { domains: [1] }), joiner(12)],
      groups: lanes(2),
      events: [anEvent('wave.opened', startedAt + 1)],
      ...changes,
    });

    it('are in the plan with the rollout and the groups that know them', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(2) });
      expect((await view()).groups).toEqual(lanes(1));
      expect(await store.join(joining(), 1, 5)).toBe('saved');
      expect(await store.loadRollout(rolloutId)).toEqual(joining().rollout);
      expect(await store.loadGroups(rolloutId)).toEqual(lanes(2));
      const all = [...pendingOnes(2), joiner(11, { domains: [1] }), joiner(12)];
      expect(await store.listUpgrades(rolloutId, { offset: 0, limit: 99 })).toEqual(all);
      const after = await view();
      expectCounted(after, all);
      expect(after.groups).toEqual(lanes(2));
      expect(inShort(after)).toEqual({ 0: [1, 2], 1: [11, 12] });
      expect(await store.readEvents(rolloutId, { limit: 9 })).toHaveLength(1);
      expect(
        await admit(
          [11, 12],
          [
            { label: '', cap: 1 },
            { label: '', cap: 0 },
          ],
          9,
          2,
        ),
      ).toEqual([12]);
    });

    it('that have a record already are left out', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(2) });
      await store.saveUpgrade(ended(await load(2), 'failed', 1), null);
      expect(await store.join(joining({ upgrades: [joiner(2), joiner(12)] }), 1, null)).toBe('saved');
      expect(await load(2)).toMatchObject({ progress: { state: 'failed' }, identity: { lane: 0 } });
      const records = await store.listUpgrades(rolloutId, { offset: 0, limit: 99 });
      expectCounted(await view(), records);
      expect(inShort(await view())).toEqual({ 0: [1], 1: [12] });
    });

    it('join once, also when the caller tries again', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(2) });
      expect(await store.join(joining(), 1, null)).toBe('saved');
      await store.saveUpgrade(ended(await load(12), 'failed', 1), null);
      expect(await store.join(joining(), 1, null)).toBe('saved');
      expect(await store.readEvents(rolloutId, { limit: 9 })).toHaveLength(2);
      expect((await view()).waves[0]?.counts).toMatchObject({ pending: 3, failed: 1 });
    });

    it('are refused when the rollout has changed, or another leads', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(2) });
      expect(await store.join(joining(), 2, null)).toBe('stale');
      await save(aRollout({ reason: because('seen') }), 7);
      const next = joining({ rollout: aRollout({ rev: 3 }) });
      expect(await store.join(next, 2, 6)).toBe('stale');
      expect(await store.loadUpgrade(rolloutId, 11)).toBeUndefined();
      expect(await store.loadGroups(rolloutId)).toEqual(lanes(1));
      expect(await store.join(next, 2, 7)).toBe('saved');
      const unknown = joining({ rollout: aRollout({ id: 'other-20260302-1', rev: 2 }) });
      expect(await store.join(unknown, 1, null)).toBe('stale');
    });

    it('may be thousands', async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(1) });
      const many = range(1_200).map((id) => joiner(id + 100));
      expect(await store.join(joining({ upgrades: many }), 1, null)).toBe('saved');
      expect((await view()).waves[0]?.counts.pending).toBe(1_201);
      expect(await store.listUpgrades(rolloutId, { offset: 1, limit: 2_000 })).toEqual(many);
    });
  });

  describe('who rejoins', () => {
    const back = async (...ids: readonly number[]) =>
      Promise.all(ids.map(async (id) => changeTo(await load(id), { state: 'pending' })));
    beforeEach(async () => {
      await freeze({ rollout: aRollout(), upgrades: pendingOnes(3) });
      for (const id of [1, 2]) await store.saveUpgrade(ended(await load(id), 'withdrawn', 0), null);
    });

    it('is pending again, in a rollout that nobody ends who read it before (P9)', async () => {
      expect(await store.rejoin(rolloutId, await back(1, 2), 1)).toEqual([1, 2]);
      expect(inShort(await view())).toEqual({ 0: [1, 2, 3] });
      expectCounted(await view(), await store.listUpgrades(rolloutId, { offset: 0, limit: 99 }));
      expect((await store.loadRollout(rolloutId))?.rev).toBe(2);
      const over = aRollout({ rev: 2, state: 'succeeded', endedAt: startedAt });
      const ending = { rollout: over, expectedRev: 1, events: [], brake: 'keep' } as const;
      expect(await store.saveRollout(ending, null)).toBe('stale');
    });

    it('does not when the rollout has moved on (P9)', async () => {
      const changes = await back(1);
      await save(aRollout({ state: 'succeeded', endedAt: startedAt }));
      expect(await store.rejoin(rolloutId, changes, 1)).toEqual([]);
      expect((await load(1)).progress.state).toBe('withdrawn');
      expect((await store.loadRollout(rolloutId))?.rev).toBe(2);
    });

    it('is left out when its record has changed; when all have, the rollout is as it was', async () => {
      const changes = await back(1, 2);
      await store.saveUpgrade(
        changeTo(await load(1), { state: 'retrying', dueAt: 1, reason: because('') }),
        null,
      );
      expect(await store.rejoin(rolloutId, changes.slice(0, 1), 1)).toEqual([]);
      expect((await store.loadRollout(rolloutId))?.rev).toBe(1);
      expect(await store.rejoin(rolloutId, changes, 1)).toEqual([2]);
      expect((await load(1)).progress.state).toBe('retrying');
    });
  });

  describe('a list of records', () => {
    it('is of one wave, of one state, or of both, page by page', async () => {
      const upgrades = pendingOnes(12, (index) => ({ wave: index % 3, lane: index % 2 }));
      await freeze({ rollout: rolloutWith('open', 'open', 'open'), upgrades });
      for (const id of [2, 3, 5, 8]) await store.saveUpgrade(ended(await load(id), 'failed', 1), null);
      const ids = async (page: { state?: UpgradeState; wave?: number; offset?: number; limit?: number }) =>
        (await store.listUpgrades(rolloutId, { offset: 0, limit: 99, ...page })).map(
          (u) => u.identity.collectorId,
        );
      expect(await ids({ wave: 1 })).toEqual([2, 5, 8, 11]);
      expect(await ids({ wave: 1, offset: 1, limit: 2 })).toEqual([5, 8]);
      expect(await ids({ wave: 1, state: 'failed' })).toEqual([2, 5, 8]);
      expect(await ids({ wave: 1, state: 'failed', offset: 1, limit: 1 })).toEqual([5]);
      expect(await ids({ state: 'failed' })).toEqual([2, 3, 5, 8]);
      // By wave, and then by lane.
      expect(await ids({ state: 'pending' })).toEqual([1, 7, 4, 10, 11, 9, 6, 12]);
      expect(await ids({ state: 'pending', wave: 2 })).toEqual([9, 6, 12]);
      expect(await ids({ state: 'pending', wave: 2, offset: 1, limit: 1 })).toEqual([6]);
      expect(await ids({ wave: 9 })).toEqual([]);
      expect(await ids({ state: 'failed', wave: 0 })).toEqual([]);
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

  it('has no groups for a rollout that is not there', async () => {
    expect(await store.loadGroups(rolloutId)).toBeUndefined();
  });

  it('adds up to the records after any transitions, refused and repeated ones included (P9)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aWish(), { maxLength: 25 }), async (wishes) => {
        store = makeStore();
        await freezeMixed(store);
        for (const wish of wishes) await grant(store, wish);
        const records = await store.listUpgrades(rolloutId, { offset: 0, limit: 100 });
        expectCounted(await view(), records);
        for (const state of upgradeStates) {
          if (state === 'pending') continue;
          const listed = await store.listUpgrades(rolloutId, { offset: 1, limit: 2, state });
          expect(listed).toEqual(records.filter((record) => record.progress.state === state).slice(1, 3));
        }
      }),
      { numRuns: 40 },
    );
  });

  function freeze(plan: Partial<FrozenPlan> & Pick<FrozenPlan, 'rollout' | 'upgrades'>) {
    return store.freeze({ groups: lanes(1), events: [], ...plan });
  }

  async function view(at: Partial<Parameters<RolloutStore['loadView']>[1]> = {}): Promise<StoredView> {
    const seen = await store.loadView(rolloutId, {
      now: startedAt,
      overdueBefore: startedAt,
      pageSize: 100,
      ...at,
    });
    if (seen === undefined) throw new Error('there is no rollout');
    return seen;
  }

  function load(collectorId: number): Promise<Upgrade> {
    return loadFrom(store, collectorId);
  }

  async function save(rollout: Rollout, fence: number | null = null): Promise<void> {
    const change = { rollout: { ...rollout, rev: 2 }, expectedRev: 1, events: [], brake: 'keep' } as const;
    expect(await store.saveRollout(change, fence)).toBe('saved');
  }

  async function admit(
    ids: readonly number[],
    domains: readonly CapDomain[],
    slots = 9,
    rolloutRev = 1,
  ): Promise<readonly number[]> {
    const changes = (await store.loadUpgrades(rolloutId, ids)).upgrades.map(admitted);
    return store.admit({ rolloutId, rolloutRev, slots, domains, changes }, 9);
  }
});

describe('the store in Redis and its model in memory', () => {
  it('are the same to whoever uses them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aWish(), { maxLength: 30 }), async (wishes) => {
        const both = [makeRedisStore(false), makeMemoryRolloutStore()];
        for (const store of both) await freezeMixed(store);
        for (const wish of wishes) {
          const [real, model] = await Promise.all(both.map((store) => grant(store, wish)));
          expect(model).toEqual(real);
        }
        const at = { now: 500, overdueBefore: 500, pageSize: 3 };
        const [real, model] = await Promise.all(both.map((store) => store.loadView(rolloutId, at)));
        expect(withoutNoise(model)).toEqual(withoutNoise(real));
        for (const page of [{}, { state: 'pending' }, { wave: 1 }, { wave: 0, state: 'failed' }] as const) {
          const [listed, modelled] = await Promise.all(
            both.map((store) => store.listUpgrades(rolloutId, { offset: 1, limit: 3, ...page })),
          );
          expect(modelled).toEqual(listed);
        }
        const [events, modelled] = await Promise.all(
          both.map((store) => store.readEvents(rolloutId, { limit: 99 })),
        );
        expect(modelled).toEqual(events);
      }),
      { numRuns: 150 },
    );
  });
});

interface Wish {
  readonly collectorId: number;
  readonly state: UpgradeState;
  readonly instant: number;
  readonly kind:
    | 'save'
    | 'trip'
    | 'intent'
    | 'admit'
    | 'repeat'
    | 'outdated'
    | 'rejoin'
    | 'join'
    | 'pause'
    | 'resume'
    | 'open';
}

function aWish(): fc.Arbitrary<Wish> {
  return fc.record({
    collectorId: fc.integer({ min: 1, max: 8 }),
    state: fc.constantFrom(...upgradeStates),
    instant: fc.integer({ min: 1, max: 1_000 }),
    kind: fc.constantFrom(
      ...(['save', 'save', 'save', 'trip', 'intent', 'admit', 'admit'] as const),
      ...(['repeat', 'outdated', 'rejoin', 'join', 'pause', 'resume', 'open'] as const),
    ),
  });
}

/** Two waves, three strata, two lanes, two caps; collectors 7 and 8 are not in it yet. */
async function freezeMixed(store: RolloutStore): Promise<void> {
  const upgrades = pendingOnes(6, mixed);
  const groups = {
    ...lanes(2),
    domains: [
      { label: 'a', cap: 1 },
      { label: 'b', cap: 2 },
    ],
  };
  await store.freeze({ rollout: rolloutWith('open', 'waiting'), upgrades, groups, events: [] });
}

function mixed(index: number): Partial<UpgradeFigures> {
  return {
    wave: index % 2,
    lane: index % 2,
    stratum: index % 3,
    domains: [[0], [1], [0, 1], []][index % 4] ?? [],
  };
}

/** @returns what the store answered */
async function grant(store: RolloutStore, { collectorId, state, instant, kind }: Wish): Promise<unknown> {
  const rollout = await store.loadRollout(rolloutId);
  if (rollout === undefined) throw new Error('there is no rollout');
  const saveRollout = (changes: Partial<Rollout>, brake: 'set' | 'lift' | 'keep') =>
    store.saveRollout(
      {
        rollout: { ...rollout, ...changes, rev: rollout.rev + 1 },
        expectedRev: rollout.rev,
        events: [],
        brake,
      },
      null,
    );
  if (kind === 'pause') return saveRollout({ state: 'paused' }, 'set');
  if (kind === 'resume') return saveRollout({ state: 'running' }, 'lift');
  if (kind === 'open') return saveRollout(rolloutWith('passed', 'open'), 'keep');
  if (kind === 'join') {
    const upgrades = pendingOnes(8, mixed).filter((upgrade) => upgrade.identity.collectorId === collectorId);
    const groups = {
      ...lanes(3),
      domains: [
        { label: 'a', cap: 1 },
        { label: 'b', cap: 2 },
      ],
    };
    const joining = { rollout: { ...rollout, rev: rollout.rev + 1 }, upgrades, groups, events: [] };
    return store.join(joining, rollout.rev, null);
  }
  const before = await store.loadUpgrade(rolloutId, collectorId);
  if (before === undefined) return undefined;
  const change = changeTo(before, anyProgress(state, instant), instant);
  switch (kind) {
    case 'save':
      return store.saveUpgrade(change, null);
    case 'trip':
      return store.saveUpgrade(change, 3);
    case 'repeat':
      return [await store.saveUpgrade(change, null), await store.saveUpgrade(change, null)];
    case 'outdated':
      return store.saveUpgrade({ ...change, before: { ...before, rev: 0 } }, null);
    case 'rejoin':
      return store.rejoin(rolloutId, [change], instant % 5 === 0 ? rollout.rev - 1 : rollout.rev);
    case 'intent':
      return store.saveIntent(change, instant % 5 === 0 ? rollout.rev - 1 : rollout.rev);
    case 'admit': {
      const groups = await store.loadGroups(rolloutId);
      const admission = { rolloutId, rolloutRev: rollout.rev, slots: 2, domains: groups?.domains ?? [] };
      return store.admit({ ...admission, changes: [change] }, instant % 10);
    }
  }
}

/** Everything that is counted, against the records themselves. */
function expectCounted(view: StoredView, records: readonly Upgrade[]): void {
  const count = (wanted: (record: Upgrade) => boolean) => records.filter(wanted).length;
  const weigh = (of: readonly Upgrade[]) => of.reduce((sum, record) => sum + weightOf(record), 0);
  view.waves.forEach((summary, wave) => {
    for (const state of upgradeStates)
      expect(summary.counts[state]).toBe(
        count((record) => record.identity.wave === wave && record.progress.state === state),
      );
    const members = records.filter((record) => record.identity.wave === wave);
    expect(summary.weight).toBeCloseTo(weigh(members), 9);
    expect(summary.lost).toBe(members.filter(isLost).length);
    expect(summary.onBuild).toBe(members.filter(isOnBuild).length);
  });
  expect(view.slotsTaken).toBe(count(({ progress: { state } }) => holdsSlot(state)));
  const taken = new Map<number, number>();
  for (const {
    progress: { state },
    identity: { domains },
  } of records)
    if (holdsSlot(state)) for (const domain of domains) taken.set(domain, (taken.get(domain) ?? 0) + 1);
  expect(view.domainsTaken).toEqual(taken);
  const statesOf = {
    waiting: ['pending', 'retrying'],
    active: ['queued', 'starting', 'upgrading', 'verifying'],
    succeeded: ['succeeded'],
    failed: ['failed', 'timedOut', 'unconfirmed'],
  } as const;
  const places = new Set(records.map(({ identity: { stratum, wave } }) => `${stratum}/${wave}`));
  for (const place of places) {
    const members = records.filter(({ identity: { stratum, wave } }) => `${stratum}/${wave}` === place);
    const summary = view.strata.find(({ stratum, wave }) => `${stratum}/${wave}` === place);
    for (const [figure, states] of Object.entries(statesOf)) {
      const expected = members.filter(({ progress: { state } }) =>
        (states as readonly string[]).includes(state),
      ).length;
      expect(summary?.[figure as keyof typeof statesOf] ?? 0).toBe(expected);
    }
    expect(summary?.weight ?? 0).toBeCloseTo(weigh(members), 9);
  }
  for (const { stratum, wave, weight, waiting, active, succeeded, failed } of view.strata) {
    expect(places).toContain(`${stratum}/${wave}`);
    expect(weight + waiting + active + succeeded + failed).toBeGreaterThan(0);
  }
}

/** Sums of fractions differ in their last digit. */
function withoutNoise(view: StoredView | undefined): unknown {
  const round = <T extends { readonly weight: number }>(of: T) => ({
    ...of,
    weight: Number(of.weight.toFixed(6)),
  });
  return { ...view, waves: view?.waves.map(round), strata: view?.strata.map(round) };
}

function inShort({ candidates }: StoredView): Record<number, readonly number[]> {
  const ids = ({ retries, pending }: LaneQueue) =>
    [...retries, ...pending].map(({ collectorId }) => collectorId);
  return Object.fromEntries(candidates.map((queue) => [queue.lane, ids(queue)]));
}

async function loadFrom(store: RolloutStore, collectorId: number): Promise<Upgrade> {
  const upgrade = await store.loadUpgrade(rolloutId, collectorId);
  if (upgrade === undefined) throw new Error(`there is no collector ${collectorId}`);
  return upgrade;
}

function makeRedisStore(twice: boolean): RolloutStore {
  connection ??= redis.connect();
  const { commands } = connection;
  const { keyPrefix } = redis.config();
  return makeRedisRolloutStore({
    commands: twice ? echoingCommands(commands).commands : commands,
    keyPrefix,
  });
}

function rolloutWith(...states: readonly WaveState[]): Rollout {
  return aRollout({ waves: states.map((state) => aWave({ state })) });
}

function lanes(count: number): PlanGroups {
  return {
    strata: [{ label: 'all', sizes: [10] }],
    lanes: Array.from({ length: count }, () => ({ stratum: 0, timeZone: '', domains: [] })),
    domains: [],
  };
}
