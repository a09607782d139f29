import { describe, expect, it } from 'vitest';
import { beginRollback } from '../../../../src/orchestrator/lead/roll-back.ts';
import type { FleetService } from '../../../../src/orchestrator/ports/fleet-service.ts';
import type { FleetCollector } from '../../../../src/rollout/model/collector.ts';
import { aCollector, aRollout, aView, oldBuild, startedAt, targetBuild } from '../../../support/builders.ts';
import { aHouse, answering, freeze, offering, over, upgradesLike } from '../../../support/house.ts';
import { anEndedOne } from '../../../support/upgrade-cases.ts';

interface RollingBack {
  readonly size?: number;
  /** Which of them the inventory lists. */
  readonly listed?: (id: number) => boolean;
  readonly byId?: FleetService['findCollector'];
  /** How each of them ended, if not well. */
  readonly ended?: (id: number) => 'unconfirmed' | 'timedOut' | undefined;
  /** What the inventory shows of them, if not an upgraded one that is alive. */
  readonly shown?: (id: number) => Partial<FleetCollector>;
}

/** One whose collectors run the build, of which the service lists some; the others are asked for by their id. */
async function aRollingBackOne({
  size = 20,
  listed = () => true,
  byId,
  shown: shownOf = () => ({}),
  ended = () => undefined,
}: RollingBack) {
  const rollout = aRollout({
    state: 'rollingBack',
    inventory: { baseline: { at: startedAt, size, missing: 0 } },
  });
  const upgrades = upgradesLike(size, over('succeeded')).map((upgrade) => {
    const state = ended(upgrade.identity.collectorId);
    return state === undefined ? upgrade : anEndedOne(state, {}, upgrade.identity);
  });
  const collectors = upgrades.map(({ identity: { collectorId: id } }) =>
    aCollector({ id, build: targetBuild, ...shownOf(id) }),
  );
  const { parts, store, clock, notes, now } = await aHouse({
    rollout,
    upgrades,
    fleet: {
      listBuilds: offering(oldBuild),
      readInventory: async () => {
        const shown = collectors.filter(({ id }) => listed(id));
        return { ok: true, value: { collectors: shown, serviceAt: null, readAt: clock.at } };
      },
      ...(byId === undefined ? {} : { findCollector: byId }),
    },
  });
  const signal = new AbortController().signal;
  const restedMs: number[] = [];
  const sleep = async (forMs: number) => {
    restedMs.push(forMs);
    clock.at += forMs;
  };
  return {
    store,
    clock,
    notes,
    now,
    /** How long each try rested. */
    restedMs,
    begin: async () => beginRollback({ ...parts, sleep }, aView({ rollout: await now() }), signal),
    /** Redis loses the rollout while the inventory is read. */
    beginWhileLost: () => {
      const lost = { ...store, loadView: async () => undefined };
      return beginRollback({ ...parts, store: lost }, aView({ rollout }), signal);
    },
    planned: async () => store.listUpgrades('production-20260302-2', { offset: 0, limit: 1_000 }),
  };
}

const unknown = answering(undefined);
const { expectMs } = aRollout().policy.upgrade;

describe('the start of a rollback', () => {
  it('is retried later while another rollout of the policy is active', async () => {
    const { store, begin, restedMs, planned } = await aRollingBackOne({ size: 1 });
    await freeze(store, aRollout({ id: 'production-20260302-9', kind: 'rollback' }));
    await begin();
    expect(restedMs).toEqual([expectMs / 20]);
    expect(await planned()).toEqual([]);
  });

  it('waits while the inventory is empty: it never ends without rolling anything back (P14)', async () => {
    const { begin, now, clock } = await aRollingBackOne({ listed: () => false, byId: unknown });
    await begin();
    clock.at = startedAt + 24 * 3_600_000;
    await begin();
    expect(await now()).toMatchObject({
      state: 'rollingBack',
      rollback: { startedAs: null },
      inventory: { implausible: { why: { kind: 'empty' } } },
    });
  });

  it('rests between readings of an implausible inventory, and reports it once (P8)', async () => {
    const half = { size: 200, listed: (id: number) => id > 70, byId: unknown };
    const { begin, planned, notes, restedMs, clock } = await aRollingBackOne(half);
    for (let tries = 0; (await planned()).length === 0 && tries < 1_000; tries += 1) await begin();
    expect(clock.at).toBe(startedAt + 30 * 60_000);
    expect(restedMs.slice(0, 3)).toEqual([15_000, 15_000, 15_000]);
    expect(restedMs.length).toBeLessThan(40);
    expect(notes.filter(({ event }) => event === 'poll.failed')).toHaveLength(1);
  });

  it('reports an inventory again that is implausible for another reason', async () => {
    let shown = 130;
    const { begin, notes } = await aRollingBackOne({ size: 200, listed: (id) => id <= shown });
    await begin();
    shown = 0;
    await begin();
    await begin();
    expect(notes.filter(({ event }) => event === 'poll.failed')).toHaveLength(2);
  });

  it('plans nothing when Redis has lost the rollout meanwhile (P6)', async () => {
    const { beginWhileLost, planned } = await aRollingBackOne({ size: 2 });
    expect(await beginWhileLost()).toBe('done');
    expect(await planned()).toEqual([]);
  });

  it('leaves behind collectors that the service does not know by their id either, and says why', async () => {
    const { begin, planned, now } = await aRollingBackOne({ listed: (id) => id > 2, byId: unknown });
    expect(await begin()).toBe('done');
    expect(await planned()).toHaveLength(18);
    expect((await now()).rollback.leftBehind).toMatchObject([{ why: { kind: 'unknown' }, count: 2 }]);
  });

  it('leaves behind those that never showed the build and are not alive, and says so', async () => {
    const shown = (id: number) => ({
      ...(id <= 5 ? { build: oldBuild } : {}),
      ...(id <= 3 ? { alive: false } : {}),
    });
    // The third is dead on another build, but did show the new one.
    const ended = (id: number) => (id <= 5 && id !== 3 ? 'unconfirmed' : undefined);
    const { begin, planned, now } = await aRollingBackOne({ shown, ended });
    expect(await begin()).toBe('done');
    expect(await planned()).toHaveLength(15);
    expect((await now()).rollback.leftBehind).toMatchObject([{ why: { kind: 'notSeen' }, count: 2 }]);
  });

  it('takes back those that timed out and show the build since, and no other that timed out', async () => {
    const shown = (id: number) => (id <= 2 ? { build: oldBuild } : {});
    const { begin, planned } = await aRollingBackOne({
      shown,
      ended: (id) => (id <= 4 ? 'timedOut' : undefined),
    });
    expect(await begin()).toBe('done');
    const ids = (await planned()).map(({ identity: { collectorId } }) => collectorId);
    expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 18 }, (_, index) => index + 3));
  });

  it('waits while one collector gives no answer', async () => {
    const { begin, now, restedMs } = await aRollingBackOne({ listed: (id) => id > 2 });
    await begin();
    expect(restedMs).toEqual([expectMs / 20]);
    expect((await now()).rollback.startedAs).toBeNull();
  });

  it('waits for half an hour when the inventory lacks many collectors, then continues without those that are unknown', async () => {
    const half = { size: 200, listed: (id: number) => id > 70, byId: unknown };
    const { begin, planned, now, clock } = await aRollingBackOne(half);
    await begin();
    clock.at = startedAt + 30 * 60_000;
    await begin();
    expect(await planned()).toHaveLength(130);
    expect((await now()).rollback.leftBehind.map(({ count }) => count)).toEqual([50, 20]);
  });
});
