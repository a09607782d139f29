import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../../../src/base/steps.ts';
import type { FleetCollector, FleetSnapshot } from '../../../../src/rollout/model/collector.ts';
import type { Policy, WaveRule } from '../../../../src/rollout/model/policy.ts';
import type { Rollout, WaveState } from '../../../../src/rollout/model/rollout.ts';
import type { FrozenRollout } from '../../../../src/rollout/planning/freeze-plan.ts';
import type { PlanOptions } from '../../../../src/rollout/planning/plan.ts';
import { planJoiners } from '../../../../src/rollout/planning/plan-joiners.ts';
import { aCollector, aFleet, aPolicy, aWave, aWaveRule, changedRollout } from '../../../support/builders.ts';
import { frozenFor } from '../../../support/planned-fleet.ts';

type Newcomers = ReadonlyArray<Partial<FleetCollector>>;

const policy = aPolicy({
  spreadBy: ['osName'],
  maxInFlightPer: [{ key: 'fields.cluster', cap: 2 }],
  waves: [
    aWaveRule({ name: 'canary', size: { kind: 'perStratum', count: 1 } }),
    aWaveRule({ name: 'early', size: { kind: 'count', count: 3 } }),
    aWaveRule(),
  ],
});
const idsOf = (frozen: FrozenRollout) => new Set(frozen.upgrades.map(({ identity }) => identity.collectorId));

/** The fleet with these beside it, all of which the service would upgrade. */
function grownBy(fleet: FleetSnapshot, newcomers: Newcomers): FleetSnapshot {
  const next = fleet.collectors.length + 1;
  const added = newcomers.map((changes, index) => aCollector({ id: next + index, ...changes }));
  const collectors = [...fleet.collectors, ...added];
  return { ...fleet, collectors, upgradableIds: new Set(collectors.map(({ id }) => id)) };
}

/** Ten of Linux: 1 to 3 in cluster c1, 4 alone in c4. */
const fleet = aFleet(10, (id) => ({
  fields: id <= 3 ? { cluster: 'c1' } : id === 4 ? { cluster: 'c4' } : {},
}));
const frozen = frozenFor(policy, fleet);

interface Given {
  readonly rollout?: Rollout;
  readonly options?: PlanOptions;
  readonly present?: Policy;
}

function joined(newcomers: Newcomers, given: Given = {}): FrozenRollout | null {
  const { rollout = frozen.rollout, options = {}, present = policy } = given;
  return runAtOnce(
    planJoiners(rollout, frozen.groups, present, grownBy(fleet, newcomers), idsOf(frozen), options),
  );
}

function withWaves(...states: readonly WaveState[]): Rollout {
  const waves = frozen.rollout.waves.map((wave, index) => ({ ...wave, state: states[index] ?? 'waiting' }));
  return { ...frozen.rollout, waves };
}

describe('late joiners', () => {
  it.each<[string, readonly WaveState[], number]>([
    ['the last one when none has started', ['waiting', 'waiting', 'waiting'], 2],
    ['the last one when none has been approved', ['awaitingApproval', 'waiting', 'waiting'], 2],
    ['the open one', ['open', 'waiting', 'waiting'], 0],
    ['the one before one that soaks, because a soak is not delayed', ['passed', 'soaking', 'waiting'], 0],
    ['the last one while the first one soaks', ['soaking', 'waiting', 'waiting'], 2],
    ['the last one while it soaks itself', ['passed', 'passed', 'soaking'], 2],
    ['the one that has passed while the next waits', ['passed', 'awaitingApproval', 'waiting'], 0],
    ['the last of those that have passed', ['passed', 'passed', 'open'], 2],
  ])('enter %s', (_, states, wave) => {
    // A canary of one per stratum has a seat for the first of a stratum, and none for another of Linux.
    const osName = wave === 0 ? 'AIX' : 'Linux';
    const result = joined([{ osName }], { rollout: withWaves(...states) });
    expect(result?.upgrades.map((each) => each.identity.wave)).toEqual([wave]);
    expect(result?.rollout.waves.map((each) => each.joined)).toEqual(
      [0, 1, 2].map((each) => (each === wave ? 1 : 0)),
    );
    expect(result?.rollout.waves.map((each) => each.size)).toEqual([1, 3, 6]);
    expect(result?.groups.strata.map(({ sizes }) => sizes)).toEqual(
      wave === 0
        ? [
            [1, 3, 6],
            [1, 0, 0],
          ]
        : [[1, 3, 7]],
    );
    // Nobody would have tried the build on AIX before all of them.
    const untried = joined([{ osName: 'AIX' }, { osName: 'AIX' }], { rollout: withWaves(...states) });
    expect(untried?.upgrades.length ?? 0).toBe(wave === 0 ? 2 : 0);
  });

  it('wait for the next rollout also where all planned collectors of their stratum are in a released group (P3)', () => {
    const attributes = [{ key: 'category', value: 'db' }];
    const strata = [
      { label: 'Linux', sizes: [0, 0, 0] },
      { label: 'category=db', attributes, sizes: [1, 3, 6] },
    ];
    const grown = grownBy(fleet, [{ category: 'db' }, { category: 'web' }]);
    const rollout = withWaves('passed', 'passed', 'open');
    const result = runAtOnce(
      planJoiners(rollout, { ...frozen.groups, strata }, policy, grown, idsOf(frozen)),
    );
    expect(result?.upgrades.map(({ identity }) => identity.collectorId)).toEqual([11]);
  });

  it('take a free seat first when no wave so far has a member of their stratum', () => {
    const sized = (size: WaveRule['size']) => aWaveRule({ size });
    const sparse = aPolicy({
      spreadBy: ['osName'],
      waves: [sized({ kind: 'count', count: 1 }), sized({ kind: 'percent', percent: 10 }), aWaveRule()],
    });
    // One seat for Linux, one for AIX, and HP-UX has its only member in the last wave.
    const ten = aFleet(10, (id) => ({ osName: id === 9 ? 'AIX' : id === 10 ? 'HP-UX' : 'Linux' }));
    const planned = frozenFor(sparse, ten);
    const { rollout, groups } = planned;
    const states = ['passed', 'open', 'waiting'] as const;
    const begun = {
      ...rollout,
      waves: rollout.waves.map((wave, at) => ({ ...wave, state: states[at] ?? 'waiting' })),
    };
    const newcomers = [...Array.from({ length: 9 }, () => ({ osName: 'Linux' })), { osName: 'HP-UX' }];
    const result = runAtOnce(planJoiners(begun, groups, sparse, grownBy(ten, newcomers), idsOf(planned)));
    const seated = result?.upgrades.filter(({ identity }) => identity.wave === 1);
    expect(seated?.map(({ identity }) => identity.collectorId)).toEqual([20]);
  });

  it('come after all others, ordered by hash and not by id', () => {
    const places = joined(Array.from({ length: 30 }, () => ({})))?.upgrades.map(({ identity }) => identity);
    const ids = places?.map(({ collectorId }) => collectorId);
    expect(ids).not.toEqual(ids?.toSorted((a, b) => a - b));
    expect(places?.map(({ order }) => order)).toEqual(Array.from({ length: 30 }, (_, index) => index + 11));
  });

  it('come after earlier joiners', () => {
    const rollout = {
      ...frozen.rollout,
      waves: frozen.rollout.waves.map((wave) => ({ ...wave, joined: 2 })),
    };
    const result = joined([{}], { rollout });
    expect(result?.upgrades[0]?.identity.order).toBe(17);
    expect(result?.rollout.waves[2]?.joined).toBe(3);
  });

  it('are ordinary records, and raise the versions of rollout and groups', () => {
    const result = joined([{ build: '19.400-1', name: 'new-1' }]);
    expect(result?.upgrades).toEqual([
      {
        ...frozen.upgrades[0],
        identity: {
          ...frozen.upgrades[0]?.identity,
          collectorId: 11,
          collectorName: 'new-1',
          wave: 2,
          order: 11,
          fromBuild: '19.400-1',
          lane: result?.groups.lanes.findIndex(({ domains }) => domains.length === 0),
          domains: [],
        },
      },
    ]);
    expect(result?.rollout).toMatchObject({
      rev: 2,
      plan: { ...frozen.rollout.plan, groupsRev: 2 },
    });
  });

  it('belong to existing groups, and new groups are added behind them', () => {
    const newcomers = [
      { id: 11, fields: { cluster: 'c1' } },
      { id: 12, fields: { cluster: 'c5' } },
      { id: 13, fields: { cluster: 'c5' } },
      { id: 14, osName: 'AIX' },
    ];
    const result = joined(newcomers, { rollout: withWaves('open') });
    const byId = new Map(result?.upgrades.map(({ identity }) => [identity.collectorId, identity]));
    expect(result?.groups.domains).toEqual([
      ...frozen.groups.domains,
      { label: 'fields.cluster = c5', cap: 2 },
    ]);
    expect([11, 12, 13, 14].map((id) => byId.get(id)?.domains)).toEqual([[0], [1], [1], []]);
    expect(result?.groups.strata).toEqual([
      { label: 'Linux', sizes: [1, 3, 9] },
      { label: 'AIX', sizes: [1, 0, 0] },
    ]);
    expect(result?.groups.lanes.length).toBe(4);
    const first = frozen.upgrades.find(({ identity }) => identity.collectorId === 1);
    expect(byId.get(11)?.lane).toBe(first?.identity.lane);
  });

  it('are grouped by time zone when the plan is, also while no window uses it (P7)', () => {
    const rollout = changedRollout(frozen.rollout, { plan: { knowsZones: true } });
    const result = joined([{ timeZone: 'Asia/Tokyo' }], { rollout });
    expect(result?.groups.lanes.at(-1)?.timeZone).toBe('Asia/Tokyo');
  });

  it('lengthen the chain of a wave under a cap', () => {
    const chains = (joiners: number) =>
      joined(Array.from({ length: joiners }, () => ({ fields: { cluster: 'c9' } })))?.rollout.waves.map(
        ({ chain }) => chain,
      );
    expect(frozen.rollout.waves.map(({ chain }) => chain)).toEqual([1, 1, 1]);
    expect(chains(2)).toEqual([1, 1, 1]);
    expect(chains(5)).toEqual([1, 1, 3]);
  });

  it('are only those that both the frozen policy and the present one select (P5)', () => {
    const newcomers = [{ name: 'web-1' }, { name: 'db-1' }, { name: 'cache-1' }];
    const excluding = (name: string) => ({ include: {}, exclude: [{ name: [name] }] });
    const frozenOne = { ...policy, select: excluding('db-*') };
    const present = { ...policy, select: excluding('cache-*') };
    const rollout = { ...frozen.rollout, policy: frozenOne };
    const taken = joined(newcomers, { rollout, present })?.upgrades;
    expect(taken?.map(({ identity: { collectorName } }) => collectorName)).toEqual(['web-1']);
  });

  it('wait for the next rollout when they share a cap with a collector that had no domain in the plan, or that this reading lacks (P2)', () => {
    const newcomers = ['c4', 'c5', 'c1'].map((cluster) => ({ name: cluster, fields: { cluster } }));
    const joiners = (lacks: number) => {
      const seen = { ...fleet, collectors: fleet.collectors.filter(({ id }) => id !== lacks) };
      const known = idsOf(frozen);
      known.delete(lacks);
      const now = grownBy(
        seen,
        newcomers.map((each, index) => ({ ...each, id: 20 + index })),
      );
      const result = runAtOnce(planJoiners(frozen.rollout, frozen.groups, policy, now, known));
      return result?.upgrades.map(({ identity }) => identity.collectorName).sort();
    };
    expect(joiners(0)).toEqual(['c1', 'c5']);
    expect(joiners(4)).toEqual(['c1']);
  });

  it('are not added to a rollback', () => {
    expect(joined([{}], { rollout: { ...frozen.rollout, kind: 'rollback' } })).toBeNull();
  });
});

describe('the seats of late joiners', () => {
  /** Twelve of Linux in two waves, the first of which is open. */
  function grown(
    rule: Partial<WaveRule>,
    newcomers: Newcomers,
    { state = 'open', joined: before = 0 }: { state?: WaveState; joined?: number } = {},
  ): FrozenRollout | null {
    const rules = aPolicy({
      spreadBy: ['osName'],
      maxInFlightPer: [{ key: 'fields.cluster', cap: 1 }],
      waves: [aWaveRule({ name: 'canary', ...rule }), aWaveRule()],
    });
    const old = aFleet(12);
    const planned = frozenFor(rules, old);
    const [canary, ...others] = planned.rollout.waves;
    const waves = [{ ...aWave(canary), state, joined: before }, ...others];
    const now = grownBy(old, newcomers);
    return runAtOnce(planJoiners({ ...planned.rollout, waves }, planned.groups, rules, now, idsOf(planned)));
  }
  /** How many took a seat in each wave. */
  function seated(...of: Parameters<typeof grown>): readonly number[] {
    const waves = grown(...of)?.upgrades.map(({ identity: { wave } }) => wave) ?? [];
    return [0, 1].map((index) => waves.filter((wave) => wave === index).length);
  }
  const many = Array.from({ length: 988 }, () => ({}));

  const count = { size: { kind: 'count', count: 2 } } as const;
  const tenPercent = { size: { kind: 'percent', percent: 10 } } as const;
  const all = { size: { kind: 'percent', percent: 100 } } as const;
  const perStratum = { size: { kind: 'perStratum', count: 2 } } as const;
  const match = { osName: ['AIX'] };
  const aix = { osName: 'AIX' };
  const clusters = ['c1', 'c1', 'c2'].map((cluster) => ({ fields: { cluster } }));
  it.each<[string, readonly number[], ...Parameters<typeof grown>]>([
    ['none in a canary of a count: a fleet that returns does not flood it', [0, 988], count, many],
    ['none in a canary of a count that has passed', [0, 988], count, many, { state: 'passed' }],
    ['a percent of the plan that has grown', [98, 890], tenPercent, many],
    ['the remainder of that percent after earlier joiners', [17, 971], tenPercent, many, { joined: 90 }],
    // Two of twelve, and two of twenty.
    ['none while the percent, rounded up, stays the same', [0, 8], tenPercent, many.slice(0, 8)],
    ['one once the percent, rounded up, is one more', [1, 8], tenPercent, many.slice(0, 9)],
    ['so many of each stratum, also of a new one', [2, 6], perStratum, [...many.slice(0, 5), aix, aix, aix]],
    ['for those that match, where the wave asks for it', [1, 2], { ...all, match }, [{}, {}, aix]],
    ['never for a whole cap domain', [2, 1], all, clusters],
  ])('are %s', (_which, expected, ...given) => {
    expect(seated(...given)).toEqual(expected);
  });

  it('go first to strata without a seat', () => {
    const mixed = [...many.slice(0, 50), { osName: 'AIX' }, { osName: 'Solaris' }];
    const size = { kind: 'percent', percent: 4 } as const;
    // Three of sixty-four, of which one is taken.
    const strata = grown({ size }, mixed)?.groups.strata ?? [];
    expect(Object.fromEntries(strata.map(({ label, sizes }) => [label, sizes]))).toEqual({
      Linux: [1, 61],
      AIX: [1, 0],
      Solaris: [1, 0],
    });
  });
});
