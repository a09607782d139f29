import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectFailures } from '../../../../src/rollout/planning/expected-failures.ts';
import { makePlan } from '../../../../src/rollout/planning/plan.ts';
import { type BuildTrials, makeStratumRisk } from '../../../../src/rollout/planning/stratum-risk.ts';
import { aFleet, aPolicy, aWaveRule, targetBuild } from '../../../support/builders.ts';

function trialsOf(
  build: string,
  strata: Readonly<Record<string, readonly [number, number]>>,
  groups: BuildTrials['groups'] = [],
): BuildTrials {
  const rows = Object.entries(strata).map(([label, [failed, tried]]) => ({ label, failed, tried }));
  const sumOf = (key: 'failed' | 'tried') => rows.reduce((sum, row) => sum + row[key], 0);
  return { build, tried: sumOf('tried'), failed: sumOf('failed'), strata: rows, groups };
}

describe('the risk of a stratum', () => {
  const orderOf = (history: readonly BuildTrials[], ...labels: readonly string[]) => {
    const { riskOf } = makeStratumRisk(history, targetBuild);
    return labels.toSorted((a, b) => riskOf(b) - riskOf(a));
  };

  it('is highest where most failed, then where nothing was tried', () => {
    const history = [trialsOf(targetBuild, { bad: [20, 28], some: [12, 28], good: [0, 400], once: [0, 1] })];
    expect(orderOf(history, 'good', 'once', 'new', 'some', 'bad')).toEqual([
      ...['bad', 'new', 'some', 'once', 'good'],
    ]);
  });

  it('rests on the target build, and on other builds for as much as ten upgrades', () => {
    const history = [
      trialsOf(targetBuild, { mended: [0, 40], broken: [30, 40] }),
      trialsOf('19.1-1', { mended: [900, 1_000], broken: [0, 1_000], old: [0, 1_000] }),
    ];
    expect(orderOf(history, 'old', 'mended', 'broken', 'new')).toEqual(['broken', 'new', 'mended', 'old']);
  });

  it('orders the seats of a first wave that has none for each stratum (DESIGN §4, Waves)', () => {
    const systems = ['a', 'b', 'c', 'd', 'e', 'f'];
    const figures = fc
      .tuple(fc.nat(20), fc.nat(20))
      .map(([failed, more]) => [failed, failed + more] as const);
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...systems), figures),
        fc.integer({ min: 1, max: 6 }),
        (known, seats) => {
          // The first is the smallest.
          const systemOf = (id: number) => systems[Math.floor((Math.sqrt(8 * id - 7) - 1) / 2)] ?? '';
          const fleet = aFleet(21, (id) => ({ osName: systemOf(id) }));
          const history = [trialsOf(targetBuild, known)];
          const policy = aPolicy({
            spreadBy: ['osName'],
            waves: [aWaveRule({ name: 'canary', size: { kind: 'count', count: seats } }), aWaveRule()],
          });
          const plan = makePlan(policy, targetBuild, fleet, 'night', { history });
          const { riskOf } = makeStratumRisk(history, targetBuild);
          const tried = new Set(plan.waves[0]?.members.map(({ collector }) => collector.osName));
          const leastTried = Math.min(...[...tried].map(riskOf));
          const mostLeft = Math.max(0, ...systems.filter((each) => !tried.has(each)).map(riskOf));
          expect(tried.size).toBe(seats);
          expect(leastTried).toBeGreaterThanOrEqual(mostLeft);
        },
      ),
    );
  });
});

describe('a group that failed in earlier rollouts', () => {
  const bad = [{ key: 'fields.rack', value: 'r7' }];
  const aGroup = (failed: number, tried: number) => [
    { label: 'fields.rack=r7', attributes: bad, failed, tried },
  ];
  const policy = aPolicy({
    spreadBy: ['osName'],
    waves: [aWaveRule({ name: 'canary', size: { kind: 'perStratum', count: 1 } }), aWaveRule()],
  });
  // One of 60 in each system.
  const fleet = aFleet(180, (id) => ({
    osName: ['Linux', 'Windows', 'Solaris'][id % 3] ?? '',
    fields: { rack: id % 60 < 3 ? 'r7' : `r${id % 5}` },
  }));
  const planWith = (history: readonly BuildTrials[]) =>
    makePlan(policy, targetBuild, fleet, 'night', { history });
  const badIn = (plan: ReturnType<typeof makePlan>) =>
    plan.waves[0]?.members.filter(({ collector }) => collector.fields['rack'] === 'r7').length;

  it('has one member in the first wave, which takes no more seats for it (DESIGN §4, Waves)', () => {
    const history = [trialsOf('19.1-1', { Linux: [9, 900] }, aGroup(9, 10))];
    const plan = planWith(history);
    expect(badIn(planWith([]))).toBe(0);
    expect(badIn(plan)).toBe(1);
    expect(plan.waves.map(({ members }) => members.length)).toEqual([3, 177]);
    expect(plan.groups.risks).toMatchObject([
      { label: 'fields.rack=r7', failed: 9, tried: 10, sizes: [1, 8] },
    ]);
    // Of nine in the group about eight fail. It explains all failures before.
    expect(expectFailures(plan.groups, policy, { history, targetBuild })).toMatchObject({
      failures: 7.4,
      riskiest: [{ label: 'fields.rack=r7', failed: 9, tried: 10, isTriedFirst: true }, {}],
    });
  });

  it('that the first wave has no room for is named as left out', () => {
    const history = [trialsOf('19.1-1', { Linux: [9, 900] }, aGroup(9, 10))];
    const [canary, rest] = policy.waves;
    if (canary === undefined || rest === undefined) throw new Error('there are two');
    const waves = [{ ...canary, match: { fields: { rack: ['r1'] } } }, rest];
    const plan = makePlan({ ...policy, waves }, targetBuild, fleet, 'night', { history });
    expect(plan.groups.risks).toMatchObject([{ label: 'fields.rack=r7', sizes: [0, 9] }]);
    expect(expectFailures(plan.groups, policy, { history, targetBuild })?.riskiest[0]?.isTriedFirst).toBe(
      false,
    );
  });

  it('is no risk any more once it succeeds on the target as often as all', () => {
    const history = [
      trialsOf('19.1-1', { Linux: [9, 900] }, aGroup(9, 10)),
      trialsOf(targetBuild, { Linux: [9, 9] }, aGroup(0, 900)),
    ];
    expect(planWith(history).groups.risks).toBeUndefined();
  });

  it('without members in the plan changes nothing', () => {
    const attributes = [{ key: 'fields.rack', value: 'gone' }];
    const gone = [{ label: 'fields.rack=gone', attributes, failed: 9, tried: 10 }];
    expect(planWith([trialsOf('19.1-1', {}, gone)]).hash).toBe(planWith([]).hash);
  });
});

describe('the failures that a plan expects', () => {
  const groups = {
    strata: [
      { label: 'Windows', sizes: [4, 24] },
      { label: 'Linux', sizes: [6, 400] },
      { label: 'new', sizes: [0, 10] },
    ],
  };
  const policy = aPolicy({
    waves: [
      aWaveRule({ name: 'canary', size: { kind: 'count', count: 10 } }),
      aWaveRule({ maxFailures: { kind: 'percent', percent: 5 } }),
    ],
  });

  it('are those of each stratum before, and of all where it was not tried', () => {
    const history = [trialsOf(targetBuild, { Windows: [14, 28], Linux: [0, 972] })];
    expect(expectFailures(groups, policy, { history, targetBuild })).toEqual({
      tried: 1_000,
      failures: 13.6,
      waves: [
        { name: 'canary', failures: 1.9, allowed: 0 },
        { name: 'rest', failures: 11.7, allowed: 21 },
      ],
      riskiest: [{ label: 'Windows', failed: 14, tried: 28, isTriedFirst: true }],
    });
  });

  it('names a stratum that failed before and that the first wave leaves out', () => {
    const history = [trialsOf('19.1-1', { new: [3, 4] })];
    const expected = expectFailures(groups, policy, { history, targetBuild });
    expect(expected?.riskiest).toEqual([{ label: 'new', failed: 3, tried: 4, isTriedFirst: false }]);
  });

  it('are unknown where no rollout has ended', () => {
    expect(expectFailures(groups, policy, { history: [], targetBuild })).toBeNull();
  });
});
