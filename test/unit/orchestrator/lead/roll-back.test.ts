import { describe, expect, it } from 'vitest';
import { beginRollback } from '../../../../src/orchestrator/lead/roll-back.ts';
import type { FleetService } from '../../../../src/orchestrator/ports/fleet-service.ts';
import {
  aCollector,
  aFleet,
  aFleetService,
  anUpgrade,
  aRollout,
  aView,
  because,
  oldBuild,
  someGroups,
  startedAt,
  targetBuild,
} from '../../../support/builders.ts';
import { quietParts } from '../../../support/quiet-parts.ts';
import {
  makeMemoryFleetRegister,
  makeMemoryRolloutStore,
} from '../../../support/store/memory-rollout-store.ts';

const policies = ['production'];

interface Service {
  readonly listed?: readonly number[];
  readonly byId?: FleetService['findCollector'];
}

/** One whose collectors run the build, of which the service lists some; the others are asked for by their id. */
async function aRollingBackOne({ listed = [1], byId }: Service = {}, size = 1) {
  const store = makeMemoryRolloutStore(() => startedAt);
  const inventoryBefore = { at: startedAt, size, missing: 0 };
  const rollout = aRollout({ state: 'rollingBack', inventory: inventoryBefore });
  const succeeded = {
    state: 'succeeded',
    endedAt: startedAt,
    reason: because(''),
    weight: 0,
    lost: false,
  } as const;
  const upgrades = Array.from({ length: size }, (_, index) =>
    anUpgrade(succeeded, { collectorId: index + 1, order: index + 1 }),
  );
  await store.freeze({ rollout, upgrades, groups: someGroups(), events: [] });
  const shown = (id: number) => aCollector({ id, build: targetBuild });
  const inventory = { ...aFleet(1), collectors: listed.map(shown) };
  const clock = { at: startedAt, now: () => clock.at };
  const parts = {
    ...quietParts,
    store,
    register: makeMemoryFleetRegister(),
    fleet: aFleetService({
      listBuilds: async () => ({ ok: true, value: [{ version: oldBuild, latest: false }] }),
      readInventory: async () => ({ ok: true, value: { ...inventory, readAt: clock.at } }),
      ...(byId === undefined ? {} : { findCollector: byId }),
    }),
    clock,
    policies,
  };
  return {
    store,
    clock,
    begin: () => beginRollback(parts, aView({ rollout }), new AbortController().signal),
    load: () => store.loadRollout(rollout.id),
    planned: async () =>
      (await store.listUpgrades('production-20260302-2', { offset: 0, limit: 1_000 })).map(
        ({ identity: { collectorId } }) => collectorId,
      ),
  };
}

const unknown = async () => ({ ok: true, value: undefined }) as const;
const from = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe('the beginning of a rollback', () => {
  it('is asked for again with a rest while another one has its place', async () => {
    const { store, begin } = await aRollingBackOne();
    const other = aRollout({ id: 'production-20260302-9', kind: 'rollback' });
    await store.freeze({ rollout: other, upgrades: [], groups: someGroups(), events: [] });
    expect(await begin()).toBe('again');
  });

  it('waits while the inventory is empty: it never ends with nobody taken back (P14)', async () => {
    const { begin, load, clock } = await aRollingBackOne({ listed: [], byId: unknown }, 20);
    expect(await begin()).toBe('again');
    clock.at = startedAt + 24 * 3_600_000;
    expect(await begin()).toBe('again');
    expect(await load()).toMatchObject({
      state: 'rollingBack',
      rollbackId: null,
      doubt: { why: { kind: 'empty' } },
    });
  });

  it('leaves those behind, with the reason, that the service does not know by their id either', async () => {
    const { begin, planned, load } = await aRollingBackOne({ listed: from(3, 20), byId: unknown }, 20);
    expect(await begin()).toBe('done');
    expect(await planned()).toHaveLength(18);
    expect((await load())?.leftBehind).toMatchObject([{ why: { kind: 'unknown' }, count: 2 }]);
  });

  it('waits while one gives no answer', async () => {
    const { begin, load } = await aRollingBackOne({ listed: from(3, 20) }, 20);
    expect(await begin()).toBe('again');
    expect((await load())?.rollbackId).toBeNull();
  });

  it('waits for an inventory that lacks half of them, then goes on without those that nothing shows', async () => {
    const { begin, planned, load, clock } = await aRollingBackOne(
      { listed: from(71, 200), byId: unknown },
      200,
    );
    expect(await begin()).toBe('again');
    clock.at = startedAt + 30 * 60_000;
    expect(await begin()).toBe('done');
    expect(await planned()).toHaveLength(130);
    expect((await load())?.leftBehind.map(({ count }) => count)).toEqual([50, 20]);
  });
});
