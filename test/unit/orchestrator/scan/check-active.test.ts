import { describe, expect, it } from 'vitest';
import type { FleetService } from '../../../../src/orchestrator/ports/fleet-service.ts';
import { changeRollout } from '../../../../src/orchestrator/records/change-rollout.ts';
import { checkActive } from '../../../../src/orchestrator/scan/check-active.ts';
import { noMemory } from '../../../../src/orchestrator/scan/read-plan.ts';
import type { FleetSnapshot } from '../../../../src/rollout/model/collector.ts';
import { aFleetService } from '../../../support/builders/service-builders.ts';
import {
  aFleet,
  anUpgrade,
  aPolicy,
  aRollout,
  askedFor,
  aTarget,
  aWave,
  type RolloutChanges,
  startedAt as t,
  targetBuild,
} from '../../../support/builders.ts';
import { aHouse, answering, offering, over, save, serving } from '../../../support/house.ts';
import { pendingOnes } from '../../../support/store/store-changes.ts';

const nothingHeld = {
  recallBuilds: async () => ({ seen: { firstSeen: new Map(), at: t }, held: new Map() }),
  recallCollectors: async () => ({}),
};

describe('a newer build, where the policy supersedes', () => {
  const policy = aPolicy({ target: aTarget({ supersede: true }) });

  /** What a tick makes of a rollout. `meanwhile` is saved while the builds are read. */
  async function tick(of: RolloutChanges, meanwhile?: RolloutChanges) {
    const rollout = aRollout({ policy, ...of });
    const { parts, store, now } = await aHouse({ rollout, upgrades: pendingOnes(1) });
    const listBuilds: FleetService['listBuilds'] = async (signal) => {
      if (meanwhile !== undefined) await save(store, rollout, meanwhile);
      return offering(targetBuild, '19.600-1')(signal);
    };
    const fleet = aFleetService({ listBuilds });
    await checkActive({ ...parts, fleet }, policy, rollout.id, nothingHeld);
    return (await now()).state;
  }

  it.each(['running', 'awaitingApproval'] as const)('ends a rollout that is %s', async (state) => {
    expect(await tick({ state })).toBe('superseded');
  });

  it.each(['paused', 'held'] as const)('leaves one that is %s to the operator (P4)', async (state) => {
    expect(await tick({ state, reason: askedFor('by ann: an incident') })).toBe(state);
  });

  it('does not end a rollout that is paused while the builds are read (P4)', async () => {
    expect(await tick({ state: 'running' }, { state: 'paused' })).toBe('paused');
  });

  it('does not end a rollback', async () => {
    expect(await tick({ kind: 'rollback', rollback: { original: 'production-20260301-1' } })).toBe('running');
  });
});

describe('the check of an active rollout', () => {
  const check = async (fleet: Partial<FleetService>, signal?: AbortSignal) => {
    const { parts } = await aHouse({ upgrades: pendingOnes(1), fleet });
    return checkActive(parts, aPolicy(), aRollout().id, noMemory, signal);
  };

  it('reports an empty fleet, however long it stays empty (P14)', async () => {
    expect(await check(serving(() => aFleet(0)))).toMatchObject({ of: 'fleet', why: { kind: 'empty' } });
  });

  it.each([[{}], [{ listBuilds: answering([{ version: targetBuild, latest: true }]) }]])(
    'reports nothing when it was cancelled',
    async (fleet) => {
      expect(await check(fleet, AbortSignal.abort())).toBe(undefined);
    },
  );
});

/** Collector 1 was withdrawn, and is back; collector 2 is being upgraded. */
async function aRolloutUnderWay() {
  const rollout = aRollout({
    inventory: { baseline: { at: t, size: 3, missing: 0 } },
    waves: [aWave({ state: 'open', size: 2 })],
  });
  const queued = { state: 'queued', dueAt: t, freshAt: 0, startBy: null } as const;
  const upgrades = [anUpgrade(over('withdrawn')), anUpgrade(queued, { collectorId: 2, order: 2 })];
  const house = await aHouse({ rollout, upgrades });
  const { parts } = house;
  /** A check that shows so many collectors. `meanwhile` happens while they are read. */
  const check = async (size: number, meanwhile?: () => Promise<unknown>) => {
    const readFleet = async (): Promise<{ readonly ok: true; readonly value: FleetSnapshot }> => {
      await meanwhile?.();
      return { ok: true, value: aFleet(size) };
    };
    const fleet = aFleetService({ ...serving(() => aFleet(size)), readFleet });
    await checkActive({ ...parts, fleet }, rollout.policy, rollout.id, nothingHeld);
  };
  const change = (fact: Parameters<typeof changeRollout>[3]) =>
    changeRollout(parts, rollout.id, 'daemon', fact);
  const statesOf = (...ids: readonly number[]) => Promise.all(ids.map(house.stateOf));
  return { ...house, rollout, check, change, statesOf };
}

const finished = () => ({ kind: 'finished', at: t, state: 'succeeded' }) as const;
const aborted = () => ({ kind: 'aborted', at: t, reason: askedFor('') }) as const;

describe('a scan during an active rollout', () => {
  it('brings back a withdrawn collector that may be upgraded again', async () => {
    const { reported, check, statesOf, now, rollout } = await aRolloutUnderWay();
    await check(2);
    expect(await statesOf(1)).toEqual(['pending']);
    expect(reported).toEqual(['upgrade.pending']);
    // Whoever read the rollout before must not end it now.
    expect((await now()).rev).toBe(rollout.rev + 1);
  });

  it.each([
    ['succeeded', finished],
    ['aborted', aborted],
  ])('brings no collector back when the rollout %s while the fleet was read (P9)', async (state, fact) => {
    const { reported, check, change, statesOf, now } = await aRolloutUnderWay();
    await check(2, () => change(fact));
    expect(await statesOf(1)).toEqual(['withdrawn']);
    expect((await now()).state).toBe(state);
    expect(reported).not.toContain('upgrade.pending');
  });

  it('brings no collector back when the rollout ends right before the write (P9)', async () => {
    const { store, check, change, statesOf } = await aRolloutUnderWay();
    const { listMissed } = store;
    store.listMissed = async (...of) => {
      await change(finished);
      return listMissed(...of);
    };
    await check(2);
    expect(await statesOf(1)).toEqual(['withdrawn']);
  });

  it('reads no record of a collector that is still in its plan', async () => {
    const { store, check, now } = await aRolloutUnderWay();
    store.loadUpgrades = () => Promise.reject(new Error('not needed'));
    await check(3);
    expect((await now()).waves[0]?.joined).toBe(1);
  });

  it('adds late joiners and brings back withdrawn collectors in one check', async () => {
    const { reported, check, statesOf, now, rollout } = await aRolloutUnderWay();
    await check(3);
    expect(await statesOf(1, 3)).toEqual(['pending', 'pending']);
    expect(reported.toSorted()).toEqual(['rollout.joined', 'upgrade.pending']);
    expect((await now()).rev).toBe(rollout.rev + 2);
  });

  it('adds late joiners also when the rollout has changed while the fleet was read', async () => {
    const { check, change, statesOf } = await aRolloutUnderWay();
    await check(3, () => change(() => ({ kind: 'brakeSet', at: t })));
    expect(await statesOf(1, 3)).toEqual(['pending', 'pending']);
  });
});
