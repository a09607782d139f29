import { describe, expect, it } from 'vitest';
import { makePlan } from '../../../../src/rollout/planning/plan.ts';
import { aFleet, aPolicy, aWaveRule, targetBuild } from '../../../support/builders.ts';

const count = (seats: number) => ({ kind: 'count', count: seats }) as const;
const policy = aPolicy({
  spreadBy: ['osName'],
  waves: [
    aWaveRule({ name: 'canary', size: count(10) }),
    aWaveRule({ name: 'early', size: count(12) }),
    aWaveRule({ name: 'rest' }),
  ],
});
/** Forty racks of twenty-five, each in one of four centres. */
const fleet = aFleet(1_000, (id) => ({
  osName: id % 2 === 0 ? 'Linux' : 'Windows',
  fields: {
    rack: `r${Math.floor((id - 1) / 25)}`,
    centre: `c${Math.floor((id - 1) / 250)}`,
    serial: `s${id}`,
  },
}));

describe('the waves before the last', () => {
  const seeds = Array.from({ length: 20 }, (_, seed) => `r-20260302-${seed}`);

  it('take collectors with values that no earlier wave has tried, whatever the seed', () => {
    for (const seed of seeds) {
      const [canary, early] = makePlan(policy, targetBuild, fleet, seed).waves.map(({ members }) =>
        members.map(({ collector }) => collector.fields['rack']),
      );
      expect(new Set(canary).size).toBe(10);
      expect(new Set([...(canary ?? []), ...(early ?? [])]).size).toBe(22);
    }
  });

  it('are still spread over the strata', () => {
    const [canary] = makePlan(policy, targetBuild, fleet, 'r-20260302-1').waves;
    expect(canary?.members.filter(({ collector }) => collector.osName === 'Linux')).toHaveLength(5);
  });
});
