import { describe, expect, it } from 'vitest';
import { withStrataDurations } from '../../../../src/cli/rehearse/strata-durations.ts';
import { drawFates } from '../../../../src/rehearsal/world/what-if.ts';
import { makePlan } from '../../../../src/rollout/planning/plan.ts';
import { aWhatIf } from '../../../support/builders/rehearsal-builders.ts';
import { aFleet, aPolicy, targetBuild } from '../../../support/builders.ts';

const minute = 60_000;
/** 40 Windows, 40 Linux and 40 macOS collectors. */
const fleet = aFleet(120, (id) => ({ osName: ['Windows', 'Linux', 'macOS'][id % 3] ?? '' }));
const plan = makePlan(aPolicy({ spreadBy: ['osName'] }), targetBuild, fleet, 'production-20260302-1');
const osNameOf = new Map(fleet.collectors.map(({ id, osName }) => [id, osName]));

/** Windows took 10 minutes, and Linux 3. Of macOS, a few are known. */
const tookMs = new Map(
  [...osNameOf].flatMap(([id, osName]) => {
    if (osName === 'macOS' && id > 9) return [];
    return [[id, osName === 'Windows' ? 10 * minute : 3 * minute] as const];
  }),
);

describe('the durations of strata', () => {
  const from = { kind: 'rollout', id: 'production-20260301-1', strata: 0, strataTotal: 0 } as const;
  const all = aWhatIf({ durationsFrom: from, durations: { medianMs: 5 * minute, p95Ms: 5 * minute } });
  const whatIf = withStrataDurations(all, plan, { tookMs });

  it('are those of their collectors in the earlier rollout, and those of all where few are known', () => {
    expect(whatIf.durationsFrom).toEqual({ ...from, strata: 2, strataTotal: 3 });
    const { fateOf } = drawFates(whatIf, fleet.collectors, 1);
    const expected = { Windows: 10, Linux: 3, macOS: 5 };
    for (const [id, osName] of osNameOf)
      expect(fateOf(id, 1).durationMs / minute).toBeCloseTo(expected[osName as keyof typeof expected]);
  });

  it('are not used where a what-if file has durations', () => {
    const named = aWhatIf({ durationsFrom: { kind: 'file' } });
    expect(withStrataDurations(named, plan, { tookMs })).toBe(named);
  });
});
