import { describe, expect, it } from 'vitest';
import type { Selector } from '../../../../src/rollout/model/policy.ts';
import { failuresAllowed, formatAmount, membersOf } from '../../../../src/rollout/model/policy.ts';
import {
  makeExclusionRule,
  makePlan,
  type Plan,
  planInSteps,
} from '../../../../src/rollout/planning/plan.ts';
import { compileMatch } from '../../../../src/rollout/planning/selector.ts';
import { aCollector, aFleet, aPolicy, aTarget, aWaveRule, targetBuild } from '../../../support/builders.ts';

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
    ['a whole name, not a part', { name: ['prod'] }, { name: 'prod-web-1' }, false],
    ['a regular expression', { name: ['/^prod-(web|db)-\\d+$/'] }, { name: 'prod-db-7' }, true],
    ['a category across slashes', { category: ['prod/*'] }, { category: 'prod/web/nginx' }, true],
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
    expect(compileMatch(selector)(aCollector(collector))).toBe(expected);
  });
});

describe('a share of the selection', () => {
  const collectors = Array.from({ length: 2_000 }, (_, index) => aCollector({ id: index + 1 }));
  const upgradableIds = new Set(collectors.map(({ id }) => id));
  const ruleOf = (share: number) => {
    const policy = aPolicy({ select: { include: {}, exclude: [{ id: [1] }], share } });
    return makeExclusionRule(policy, targetBuild, { collectors, upgradableIds }, {});
  };
  const inShare = (share: number) => {
    const leftOutBy = ruleOf(share);
    return collectors.filter((collector) => leftOutBy(collector) === undefined).map(({ id }) => id);
  };

  it('takes about as many, and a larger one takes the same ones and more', () => {
    const [third, half] = [inShare(30), inShare(50)];
    expect(third.length / 2_000).toBeCloseTo(0.3, 1);
    expect(half.length / 2_000).toBeCloseTo(0.5, 1);
    expect(half).toEqual(expect.arrayContaining(third));
    expect(inShare(100)).toHaveLength(1_999);
  });

  it('leaves out the others with a reason of its own, after what the policy excludes', () => {
    expect(collectors.slice(0, 3).map(ruleOf(0.01))).toEqual(['excluded', 'notInShare', 'notInShare']);
  });
});

describe('the size of a wave', () => {
  it('is formatted as in the config', () => {
    expect(formatAmount({ kind: 'count', count: 5 })).toBe('5');
    expect(formatAmount({ kind: 'percent', percent: 2 })).toBe('2%');
    expect(formatAmount({ kind: 'perStratum', count: 1 })).toBe('1 per stratum');
  });
});

const idsOf = (plan: Plan): number[] =>
  plan.waves.flatMap(({ members }) => members.map(({ collector }) => collector.id));

describe('the plan (P5)', () => {
  it('leaves out every other collector with a reason, and the first reason counts', () => {
    const changes: Readonly<Record<number, Parameters<typeof aCollector>[0]>> = {
      1: { name: 'other', osName: 'Mac OS X' },
      2: { osName: 'Mac OS X' },
      4: { build: targetBuild },
      5: { build: '19.999-9' },
      9: { alive: false },
    };
    const asked = new Set([1, 2, 4, 5, 6, 7, 8, 9, 10, 11]);
    const fleet = aFleet(11, (id) => ({ name: 'prod-1', ...changes[id] }));
    const upgradable = { ...fleet, upgradableIds: new Set([1, 2, 3, 4, 5, 6, 7, 8, 9, 11]) };
    const policy = aPolicy({ select: { include: { name: ['prod-*'] }, exclude: [{ osName: ['Mac*'] }] } });
    const plan = makePlan(policy, targetBuild, upgradable, 'seed', {
      only: asked,
      heldCollectors: new Set([4, 6]),
      claimed: new Set([6, 7]),
      failedBefore: new Set([7, 8]),
    });
    expect(plan.leftOut.map(({ collector, kind }) => [collector.id, kind])).toEqual([
      [1, 'notSelected'],
      [2, 'excluded'],
      [3, 'notAsked'],
      [4, 'atTarget'],
      [5, 'newer'],
      [6, 'held'],
      [7, 'claimed'],
      [8, 'failedBefore'],
      [9, 'notAlive'],
      [10, 'notOffered'],
    ]);
    expect(idsOf(plan)).toEqual([11]);
  });

  it('downgrades only when that is allowed', () => {
    const fleet = aFleet(3, () => ({ build: '19.999-9' }));
    const policy = aPolicy({ target: aTarget({ version: targetBuild, allowDowngrade: true }) });
    const none = { ...fleet, upgradableIds: new Set<number>() };
    expect(idsOf(makePlan(policy, targetBuild, none, 'seed')).length).toBe(3);
    // This service lists collectors above the target, so the third is missing for a reason: it may be in an upgrade (P1).
    const some = { ...fleet, upgradableIds: new Set([1, 2]) };
    expect(makePlan(policy, targetBuild, some, 'seed').leftOut).toMatchObject([
      { collector: { id: 3 }, kind: 'notOffered' },
    ]);
  });

  it('has a hash of target, waves and members, whatever the order of the inventory', () => {
    const fleet = aFleet(40);
    const hash = (policy = threeWaves, changed = fleet, build = targetBuild, seed = 'seed') =>
      makePlan(policy, build, changed, seed).hash;
    expect(hash()).toMatch(/^[0-9a-f]{8}$/);
    expect(hash(threeWaves, { ...fleet, collectors: fleet.collectors.toReversed() })).toBe(hash());
    expect(hash(threeWaves, aFleet(39))).not.toBe(hash());
    expect(hash(threeWaves, fleet, '19.537-1')).not.toBe(hash());
    expect(hash(threeWaves, fleet, targetBuild, 'other')).not.toBe(hash());
    expect(hash(aPolicy())).not.toBe(hash());
    const renamed = threeWaves.waves.map((rule) => ({ ...rule, name: `${rule.name}!` }));
    expect(hash({ ...threeWaves, waves: renamed })).not.toBe(hash());
  });
});

describe('a plan that is made in steps', () => {
  const policy = aPolicy({
    ...threeWaves,
    spreadBy: ['osName'],
    maxInFlightPer: [{ key: 'fields.rack', cap: 2 }],
  });
  const fleet = aFleet(3_000, (id) => ({
    osName: id % 3 === 0 ? 'Windows' : 'Linux',
    fields: { rack: `r${id % 40}` },
  }));

  it('is the same as one that is made at once, whatever else is planned in between', () => {
    const steps = planInSteps(policy, targetBuild, fleet, 'a');
    const other = planInSteps(policy, targetBuild, fleet, 'b');
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) other.next();
    expect(step.value).toEqual(makePlan(policy, targetBuild, fleet, 'a'));
  });

  it('has the same hash in each version of upwave, because a plan that waits for approval keeps it', () => {
    expect(makePlan(policy, targetBuild, fleet, 'production-20260302-1').hash).toBe('c056e797');
  });

  it('has more steps the larger the fleet is, and no larger steps', () => {
    const stepsOf = (collectors: number) => {
      let count = 0;
      for (const _step of planInSteps(policy, targetBuild, aFleet(collectors), 'seed')) count += 1;
      return count;
    };
    expect(stepsOf(10_000)).toBeGreaterThan(4 * stepsOf(2_000));
  });
});

describe('percents of a count', () => {
  it('are exact for every hundredth of a percent', () => {
    for (const count of [7, 100, 999, 10_000, 100_000]) {
      for (let hundredths = 1; hundredths <= 10_000; hundredths += 1) {
        const amount = { kind: 'percent', percent: hundredths / 100 } as const;
        const product = BigInt(count) * BigInt(hundredths);
        const floor = Number(product / 10_000n);
        const ceil = Number((product + 9_999n) / 10_000n);
        if (failuresAllowed(amount, count) !== floor || membersOf(amount, count) !== Math.max(1, ceil))
          expect.fail(`${amount.percent} % of ${count}`);
      }
    }
  });
});
