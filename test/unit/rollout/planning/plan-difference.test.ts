import { describe, expect, it } from 'vitest';
import type { FleetCollector } from '../../../../src/rollout/model/collector.ts';
import type { UpgradeState } from '../../../../src/rollout/model/upgrade.ts';
import { makePlan, type PlanOptions } from '../../../../src/rollout/planning/plan.ts';
import {
  type ComparedRollout,
  comparePlan,
  undoProgress,
} from '../../../../src/rollout/planning/plan-difference.ts';
import { aFleet, aPolicy, aWaveRule, oldBuild, targetBuild } from '../../../support/builders.ts';

const seed = 'production-20260302-1';
const policy = aPolicy({
  waves: [aWaveRule({ name: 'canary', size: { kind: 'percent', percent: 20 } }), aWaveRule()],
});

/** A rollout of ten collectors, by its own plan, each in a state. */
function rolloutOf(stateOf: (id: number) => UpgradeState = () => 'pending'): ComparedRollout {
  const plan = makePlan(policy, targetBuild, aFleet(10), seed);
  const members = plan.waves.flatMap(({ name: wave, members: planned }) =>
    planned.map(({ collector: { id, name } }) => ({
      ...{ id, name, wave, fromBuild: oldBuild, state: stateOf(id) },
    })),
  );
  return { targetBuild, members };
}

/** What a plan for the fleet as it is now has otherwise. */
function compare(
  before: ComparedRollout | undefined,
  fleet: ReturnType<typeof aFleet>,
  now: { readonly policy?: typeof policy; readonly target?: string; readonly options?: PlanOptions } = {},
) {
  const target = now.target ?? targetBuild;
  const shown = before === undefined ? fleet : undoProgress(fleet, target, before);
  return comparePlan(before, makePlan(now.policy ?? policy, target, shown, seed, now.options));
}

const idsOf = (collectors: ReadonlyArray<{ readonly id: number }>) => collectors.map(({ id }) => id);

describe('a fresh plan beside a rollout', () => {
  it('is all new where there was no rollout yet', () => {
    const { added, touched, same, dropped } = compare(undefined, aFleet(10));
    expect(idsOf(added)).toHaveLength(10);
    expect({ touched, same, dropped }).toEqual({ touched: 10, same: 0, dropped: [] });
  });

  it('does not count the upgrades of the rollout itself, ended or in flight, as changes', () => {
    const states: readonly UpgradeState[] = ['succeeded', 'succeeded', 'verifying', 'upgrading'];
    const upgraded = (id: number): Partial<FleetCollector> =>
      id <= 3 ? { build: targetBuild, alive: id !== 3 } : {};
    const before = rolloutOf((id) => states[id - 1] ?? 'pending');
    const offered = aFleet(10, upgraded);
    const fleet = { ...offered, upgradableIds: new Set([5, 6, 7, 8, 9, 10]) };
    const { added, dropped, moved, ...counts } = compare(before, fleet);
    expect({ added, dropped, moved }).toEqual({ added: [], dropped: [], moved: [] });
    expect(counts).toEqual({ touched: 6, done: 2, inFlight: 2, same: 10 });
  });

  it('counts collectors as upgraded only for the same build', () => {
    const before = rolloutOf(() => 'succeeded');
    const fleet = aFleet(10, () => ({ build: targetBuild }));
    expect(compare(before, fleet, { target: '19.600-1' })).toMatchObject({ touched: 10, done: 0 });
  });

  it('names collectors that are new, that are gone and why, and that are in another wave', () => {
    const before = rolloutOf();
    const fleet = aFleet(12, (id) => ({ alive: id !== 4 }));
    const present = { ...fleet, collectors: fleet.collectors.filter(({ id }) => id !== 7) };
    const { added, dropped } = compare(before, present, { options: { heldCollectors: new Set([9]) } });
    expect(idsOf(added).toSorted((one, other) => one - other)).toEqual([11, 12]);
    expect(dropped.map(({ kind, collectors }) => [kind, idsOf(collectors)])).toEqual(
      expect.arrayContaining([
        ['notAlive', [4]],
        ['held', [9]],
        ['leftFleet', [7]],
      ]),
    );
    const wider = {
      ...policy,
      waves: [aWaveRule({ name: 'canary', size: { kind: 'percent', percent: 50 } }), aWaveRule()],
    };
    const { moved, same } = compare(before, aFleet(10), { policy: wider });
    expect(moved.map(({ from, to, collectors }) => [from, to, collectors.length])).toEqual([
      ['rest', 'canary', 3],
    ]);
    expect(same).toBe(7);
    // What is upgraded moves no more.
    const done = compare(
      rolloutOf(() => 'succeeded'),
      aFleet(10),
      { policy: wider },
    );
    expect([done.moved, done.same]).toEqual([[], 10]);
  });
});
