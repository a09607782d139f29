import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareBuildVersions } from '../../src/base/build-version.ts';
import { failuresAllowed, membersOf } from '../../src/rollout/amount.ts';
import { freezePlan } from '../../src/rollout/freeze-plan.ts';
import { makePlan } from '../../src/rollout/plan.ts';
import type { Selector } from '../../src/rollout/policy.ts';
import { compileSelector } from '../../src/rollout/selector.ts';
import { chooseTarget } from '../../src/rollout/target.ts';
import { aCollector, aFleet, aPolicy, aWaveRule, startedAt, targetBuild } from '../support/builders.ts';

const threeWaves = aPolicy({
  waves: [
    aWaveRule({ name: 'canary', size: { kind: 'count', count: 3 } }),
    aWaveRule({ name: 'early', size: { kind: 'percent', percent: 10 } }),
    aWaveRule(),
  ],
});

describe('selection', () => {
  const rows: ReadonlyArray<[string, Selector, Parameters<typeof aCollector>[0], boolean]> = [
    ['a name by glob', { name: ['prod-*'] }, { name: 'prod-web-1' }, true],
    ['a glob in any case', { name: ['PROD-*'] }, { name: 'prod-web-1' }, true],
    ['a whole name, not a part', { name: ['prod'] }, { name: 'prod-web-1' }, false],
    ['a glob with signs of regular expressions', { name: ['a.b+c'] }, { name: 'aXb+c' }, false],
    ['a regular expression', { name: ['/^prod-(web|db)-\\d+$/'] }, { name: 'prod-db-7' }, true],
    ['a category across slashes', { category: ['prod/*'] }, { category: 'prod/web/nginx' }, true],
    ['an absent category', { category: ['prod/*'] }, { category: '' }, false],
    ['one of several ids', { id: [4, 5] }, { id: 5 }, true],
    ['another id', { id: [4, 5] }, { id: 6 }, false],
    ['a range of builds', { version: ['>=19.361-1 <19.500-1'] }, { build: '19.441-2' }, true],
    ['a build as three integers, not text', { version: ['<19.227-11'] }, { build: '19.227-4' }, true],
    ['a build beyond the range', { version: ['>=19.361-1 <19.500-1'] }, { build: '19.500-1' }, false],
    ['an unreadable build', { version: ['<19.500-1'] }, { build: 'unknown' }, false],
    ['a field', { fields: { team: ['core*'] } }, { fields: { team: 'core-infra' } }, true],
    ['an absent field', { fields: { team: ['*a*'] } }, {}, false],
    ['ephemeral ones', { ephemeral: true }, { ephemeral: true }, true],
    ['every key at once', { name: ['*'], osName: ['Linux'], ephemeral: false }, { osName: 'Windows' }, false],
  ];
  it.each(rows)('matches %s', (_, selector, collector, expected) => {
    expect(compileSelector(selector)(aCollector(collector))).toBe(expected);
  });
});

describe('the target (P6)', () => {
  const builds = [
    { version: '19.999-1', latest: false },
    { version: targetBuild, latest: true },
  ];
  it('is the build marked latest, not the highest number', () => {
    expect(chooseTarget({ version: 'latest', allowDowngrade: false }, builds)).toEqual({
      kind: 'chosen',
      build: targetBuild,
    });
  });
  it('is the named build where it is offered', () => {
    expect(chooseTarget({ version: '19.999-1', allowDowngrade: false }, builds)).toMatchObject({
      build: '19.999-1',
    });
    expect(chooseTarget({ version: '19.1-1', allowDowngrade: false }, builds).kind).toBe('none');
  });
});

describe('the size of a wave', () => {
  it('rounds shares of the plan up, and is never 0', () => {
    expect(membersOf({ kind: 'percent', percent: 1 }, 30)).toBe(1);
    expect(membersOf({ kind: 'percent', percent: 10 }, 31)).toBe(4);
    expect(membersOf({ kind: 'count', count: 50 }, 10)).toBe(10);
  });
  it('rounds its allowed failures down', () => {
    expect(failuresAllowed({ kind: 'percent', percent: 5 }, 10)).toBe(0);
    expect(failuresAllowed({ kind: 'percent', percent: 1 }, 100)).toBe(1);
  });
});

describe('the plan (P5)', () => {
  it('leaves out with a reason whoever it does not take', () => {
    const changes = [
      { name: 'other' },
      { osName: 'Mac OS X' },
      { build: targetBuild },
      { build: '19.999-9' },
      { alive: false },
      {},
      {},
      {},
    ];
    const fleet = aFleet(8, (id) => ({ name: 'prod-1', ...changes[id - 1] }));
    const upgradable = { ...fleet, upgradableIds: new Set([1, 2, 3, 4, 5, 7, 8]) };
    const policy = aPolicy({ select: { include: { name: ['prod-*'] }, exclude: [{ osName: ['Mac*'] }] } });
    const plan = makePlan(policy, targetBuild, upgradable, 'seed', new Set([8]));
    expect(plan.leftOut.map(({ collector, reason }) => [collector.id, reason])).toEqual([
      [1, 'notSelected'],
      [2, 'excluded'],
      [3, 'atTarget'],
      [4, 'newer'],
      [5, 'notAlive'],
      [6, 'notOffered'],
      [8, 'failedBefore'],
    ]);
    expect(plan.waves.flatMap(({ members }) => members.map(({ id }) => id))).toEqual([7]);
  });

  it('downgrades only where that is allowed', () => {
    const fleet = aFleet(3, () => ({ build: '19.999-9' }));
    const policy = aPolicy({ target: { version: targetBuild, allowDowngrade: true } });
    expect(makePlan(policy, targetBuild, fleet, 'seed').waves[0]?.members.length).toBe(3);
  });

  it('cuts waves by count and share, and gives the last one the rest', () => {
    const plan = makePlan(threeWaves, targetBuild, aFleet(101), 'seed');
    expect(plan.waves.map(({ members }) => members.length)).toEqual([3, 11, 87]);
  });

  it('spreads members by hash: repeatable, another order for another rollout, and not by name', () => {
    const ids = (seed: string) =>
      makePlan(threeWaves, targetBuild, aFleet(200), seed).waves.flatMap(({ members }) =>
        members.map(({ id }) => id),
      );
    expect(ids('a')).toEqual(ids('a'));
    expect(ids('a')).not.toEqual(ids('b'));
    expect(ids('a')).not.toEqual([...ids('a')].sort((x, y) => x - y));
  });

  it('accounts for every collector exactly once (P9)', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 300 }),
        fc.integer({ min: 0, max: 50 }),
        fc.integer({ min: 1, max: 100 }),
        (size, count, percent) => {
          const waves = [
            aWaveRule({ name: 'a', size: { kind: 'count', count } }),
            aWaveRule({ name: 'b', size: { kind: 'percent', percent } }),
            aWaveRule({ name: 'c' }),
          ];
          const fleet = aFleet(size, (id) => ({ alive: id % 7 !== 0 }));
          const plan = makePlan(aPolicy({ waves }), targetBuild, fleet, 'seed');
          const all = [
            ...plan.waves.flatMap(({ members }) => members),
            ...plan.leftOut.map(({ collector }) => collector),
          ];
          expect(all.map(({ id }) => id).sort((a, b) => a - b)).toEqual(fleet.collectors.map(({ id }) => id));
        },
      ),
    );
  });

  it('freezes one pending record for each member, in plan order', () => {
    const plan = makePlan(threeWaves, targetBuild, aFleet(20), 'seed');
    const origin = {
      id: 'r-20260302-1',
      policy: threeWaves,
      startedBy: 'schedule',
      createdAt: startedAt,
      fleet: { readAt: startedAt, serviceAt: startedAt },
    };
    const { rollout, upgrades } = freezePlan(plan, origin);
    expect(rollout.waves.map(({ size }) => size)).toEqual([3, 2, 15]);
    expect(upgrades.map(({ order }) => order)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(new Set(upgrades.map(({ state }) => state))).toEqual(new Set(['pending']));
  });
});

describe('what the plan knows of each collector', () => {
  it('takes only those it heard from for fit without another look (P1)', () => {
    const fleet = aFleet(2, (id) => ({ lastSeenAlive: id === 1 ? startedAt - 15_000 : startedAt - 30_000 }));
    const plan = makePlan(aPolicy(), targetBuild, fleet, 'seed');
    const origin = {
      id: 'r-20260302-1',
      policy: aPolicy(),
      startedBy: 'schedule',
      createdAt: startedAt,
      fleet,
    };
    const { upgrades } = freezePlan(plan, origin);
    const fitAt = new Map(upgrades.map((upgrade) => [upgrade.collectorId, upgrade.fitAt]));
    expect(fitAt.get(1)).toBe(startedAt);
    expect(fitAt.get(2)).toBe(0);
  });
});

describe('builds', () => {
  it('are ordered as integer triples', () => {
    expect(compareBuildVersions('19.227-4', '19.227-11')).toBeLessThan(0);
    expect(compareBuildVersions('19.61-1', '19.525-63')).toBeLessThan(0);
    expect(compareBuildVersions('19.525', '19.525-0')).toBe(0);
    expect(compareBuildVersions('', '19.525-63')).toBeUndefined();
  });
});
