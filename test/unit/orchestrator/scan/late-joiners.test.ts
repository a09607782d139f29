import { describe, expect, it } from 'vitest';
import { changeRollout } from '../../../../src/orchestrator/records/change-rollout.ts';
import { checkActive } from '../../../../src/orchestrator/scan/check-active.ts';
import type { FleetSnapshot } from '../../../../src/rollout/model/collector.ts';
import {
  aFleet,
  aFleetService,
  anUpgrade,
  aRollout,
  aWave,
  because,
  someGroups,
  startedAt,
  targetBuild,
} from '../../../support/builders.ts';
import { quietParts } from '../../../support/quiet-parts.ts';
import {
  makeMemoryFleetRegister,
  makeMemoryRolloutStore,
} from '../../../support/store/memory-rollout-store.ts';

const rollout = aRollout({
  inventory: { at: startedAt, size: 3, missing: 0 },
  waves: [aWave({ state: 'open', size: 2 })],
});

/** Collector 1 was withdrawn, and is back; collector 2 is being upgraded. */
async function aRolloutUnderWay() {
  const store = makeMemoryRolloutStore();
  const gone = {
    state: 'withdrawn',
    endedAt: startedAt,
    reason: because('not alive'),
    weight: 0,
    lost: false,
  } as const;
  const upgrades = [
    anUpgrade(gone),
    anUpgrade({ state: 'queued', dueAt: startedAt, freshAt: 0, startBy: null }, { collectorId: 2, order: 2 }),
  ];
  await store.freeze({ rollout, upgrades, groups: someGroups(), events: [] });
  const told: string[] = [];
  const parts = {
    ...quietParts,
    store,
    register: makeMemoryFleetRegister(),
    sink: { tell: ({ event }: { event: string }) => told.push(event), note: () => undefined },
  };
  const check = (readFleet: () => Promise<FleetSnapshot>) => {
    const fleet = aFleetService({
      listBuilds: async () => ({ ok: true, value: [{ version: targetBuild, latest: true }] }),
      readFleet: async () => ({ ok: true, value: await readFleet() }),
    });
    const memory = {
      recallBuilds: async () => ({ seen: { firstSeen: new Map(), at: startedAt }, held: new Map() }),
      recallCollectors: async () => ({}),
    };
    return checkActive({ ...parts, fleet }, rollout.policy, rollout.id, memory);
  };
  const stateOf = async (collectorId: number) =>
    (await store.loadUpgrade(rollout.id, collectorId))?.progress.state;
  return { parts, store, told, check, stateOf };
}

describe('a tick of a rollout that is on its way', () => {
  it('brings back who was withdrawn and may be upgraded again', async () => {
    const { store, told, check, stateOf } = await aRolloutUnderWay();
    await check(async () => aFleet(2));
    expect(await stateOf(1)).toBe('pending');
    expect(told).toEqual(['upgrade.pending']);
    // Whoever read the rollout before must not end it now.
    expect((await store.loadRollout(rollout.id))?.rev).toBe(rollout.rev + 1);
  });

  it.each(['succeeded', 'aborted'] as const)(
    'brings nobody back into a rollout that has %s while the fleet was read (P9)',
    async (state) => {
      const { parts, store, told, check, stateOf } = await aRolloutUnderWay();
      await check(async () => {
        await changeRollout(parts, rollout.id, 'daemon', () =>
          state === 'aborted'
            ? { kind: 'aborted', at: startedAt, reason: because('') }
            : { kind: 'finished', at: startedAt, state },
        );
        told.length = 0;
        return aFleet(2);
      });
      expect(await stateOf(1)).toBe('withdrawn');
      expect((await store.loadRollout(rollout.id))?.state).toBe(state);
      expect(told).toEqual([]);
    },
  );

  it('brings nobody back when the rollout ends right before the write (P9)', async () => {
    const { parts, store, check, stateOf } = await aRolloutUnderWay();
    const { loadUpgrades } = store;
    store.loadUpgrades = async (...of) => {
      await changeRollout(parts, rollout.id, 'daemon', () => ({
        kind: 'finished',
        at: startedAt,
        state: 'succeeded',
      }));
      return loadUpgrades(...of);
    };
    await check(async () => aFleet(2));
    expect(await stateOf(1)).toBe('withdrawn');
  });

  it('takes in newcomers and brings back the others at one look', async () => {
    const { store, told, check, stateOf } = await aRolloutUnderWay();
    await check(async () => aFleet(3));
    expect([await stateOf(1), await stateOf(3)]).toEqual(['pending', 'pending']);
    expect(told.toSorted()).toEqual(['rollout.joined', 'upgrade.pending']);
    expect((await store.loadRollout(rollout.id))?.rev).toBe(rollout.rev + 2);
  });

  it('takes in newcomers also when the rollout has moved on while the fleet was read', async () => {
    const { parts, check, stateOf } = await aRolloutUnderWay();
    await check(async () => {
      await changeRollout(parts, rollout.id, 'daemon', () => ({ kind: 'brakeSet', at: startedAt }));
      return aFleet(3);
    });
    expect([await stateOf(1), await stateOf(3)]).toEqual(['pending', 'pending']);
  });
});
