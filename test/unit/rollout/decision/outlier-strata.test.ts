import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  findOutlierCauses,
  findOutliers,
  mayFindCulprits,
  type OutlierStratum,
  type Trip,
} from '../../../../src/rollout/decision/outlier-strata.ts';
import type {
  AcknowledgedStratum,
  HeldStratum,
  RolloutView,
  StratumSummary,
} from '../../../../src/rollout/model/rollout.ts';
import {
  aPolicy,
  aRollout,
  aStratumSummary,
  aView,
  because,
  someGroups,
  startedAt,
} from '../../../support/builders.ts';

/** `[failed, succeeded]` of each stratum, all in one wave, of `size` members. */
interface Given {
  readonly tried: ReadonlyArray<readonly [failed: number, succeeded: number, active?: number]>;
  readonly size?: number;
  readonly held?: readonly number[];
  readonly acknowledged?: readonly AcknowledgedStratum[];
  readonly isolateStrata?: boolean;
}

function view({ tried, size = 20, held = [], acknowledged = [], isolateStrata = true }: Given): RolloutView {
  const strata = tried.map(
    ([failed, succeeded, active = 0], stratum): StratumSummary =>
      aStratumSummary({ stratum, failed, weight: failed, succeeded, active }),
  );
  return withStrata(strata, { count: tried.length, size, held, acknowledged, isolateStrata });
}

function withStrata(
  strata: readonly StratumSummary[],
  {
    count,
    size = 20,
    held = [],
    acknowledged = [],
    isolateStrata = true,
  }: Omit<Given, 'tried'> & { readonly count: number },
): RolloutView {
  const heldStrata = held.map(
    (stratum): HeldStratum => ({
      stratum,
      label: `s${stratum}`,
      reason: because('why'),
      by: 'daemon',
      at: startedAt,
    }),
  );
  return aView({
    rollout: aRollout({
      policy: aPolicy({ isolateStrata }),
      heldStrata,
      acknowledgedStrata: acknowledged,
    }),
    groups: someGroups({
      strata: Array.from({ length: count }, (_, stratum) => ({ label: `s${stratum}`, sizes: [size] })),
    }),
    strata,
  });
}

const indexes = (found: readonly OutlierStratum[] | undefined) => found?.map(({ stratum }) => stratum);
const well = (count: number, succeeded = 10) => Array.from({ length: count }, () => [0, succeeded] as const);
/** A wave with some of each stratum trips, and is within bounds once these are set aside. */
const canary = (...strata: readonly number[]): Trip => ({
  triesEachStratum: true,
  isWithinBoundsWithout: (aside) => strata.every((stratum) => aside.has(stratum)),
});
/** The same for a wave that takes whoever comes. */
const anyWave = (...strata: readonly number[]): Trip => ({ ...canary(...strata), triesEachStratum: false });

describe('a stratum that stands out while all is within bounds', () => {
  it('is not found for one failure, however well the rest is', () => {
    expect(findOutliers(view({ tried: [[1, 0], ...well(9, 2_000)], size: 3_000 }))).toEqual([]);
    expect(indexes(findOutliers(view({ tried: [[2, 0], ...well(9, 2_000)], size: 3_000 })))).toEqual([0]);
  });

  it('has to stand out more the more strata were looked at', () => {
    expect(findOutliers(view({ tried: [[2, 0], ...well(5, 8), ...well(2, 0)] }))).toEqual([]);
  });

  it('is at most half of the plan, and a fifth of the strata tried', () => {
    const groups = (size: number) =>
      someGroups({
        strata: [{ label: 's0', sizes: [size] }, ...well(5).map(() => ({ label: 's', sizes: [16] }))],
      });
    const bad = view({ tried: [[9, 1], ...well(5, 16)] });
    expect(indexes(findOutliers({ ...bad, groups: groups(80) }))).toEqual([0]);
    expect(findOutliers({ ...bad, groups: groups(81) })).toEqual([]);
    const two = [
      [9, 1],
      [9, 1],
    ] as const;
    expect(indexes(findOutliers(view({ tried: [...two, ...well(8, 20)] })))).toEqual([0, 1]);
    expect(findOutliers(view({ tried: [...two, ...well(7, 20)] }))).toEqual([]);
  });

  it('counts those that are held towards these shares', () => {
    expect(findOutliers(view({ tried: [[9, 1], [9, 1], ...well(8, 20)], held: [1] }))).toHaveLength(1);
    expect(findOutliers(view({ tried: [[9, 1], [9, 1], ...well(7, 20)], held: [1] }))).toEqual([]);
  });
});

describe('failures that an operator has seen', () => {
  it('leave no credit behind when they are retried and succeed', () => {
    const retried = view({ tried: [[0, 3], ...well(7)], acknowledged: [{ stratum: 0, failed: 3 }] });
    expect(findOutliers(retried)).toEqual([]);
    const partly = view({ tried: [[2, 3], ...well(7)], acknowledged: [{ stratum: 0, failed: 3 }] });
    expect(findOutliers(partly)).toEqual([]);
    const other = view({ tried: [[2, 0], [0, 8], ...well(4, 8)], acknowledged: [{ stratum: 1, failed: 3 }] });
    expect(findOutliers(other)).toMatchObject([{ failed: 2, tried: 2, elsewhere: { failed: 0, tried: 40 } }]);
  });
});

describe('strata that explain why a wave trips that tries each stratum', () => {
  it('are found on one failure when four have ended well elsewhere, and nobody runs', () => {
    expect(findOutlierCauses(view({ tried: [[1, 0], ...well(4, 1)] }), canary(0))).toEqual([
      { stratum: 0, label: 's0', failed: 1, tried: 1, elsewhere: { failed: 0, tried: 4 } },
    ]);
    expect(findOutlierCauses(view({ tried: [[1, 0], ...well(3, 1), [0, 0]] }), canary(0))).toBeUndefined();
    expect(findOutlierCauses(view({ tried: [[1, 0], ...well(4, 1), [0, 0, 1]] }), canary(0))).toBeUndefined();
    expect(findOutlierCauses(view({ tried: [[1, 0], ...well(3, 1), [1, 3]] }), canary(0))).toBeUndefined();
  });

  it('are found while others run when chance in one of twenty does not explain it', () => {
    expect(
      indexes(findOutlierCauses(view({ tried: [[1, 0], ...well(10, 1), [0, 0, 1]] }), canary(0))),
    ).toEqual([0]);
    expect(findOutlierCauses(view({ tried: [[1, 0], ...well(8, 1), [0, 0, 1]] }), canary(0))).toBeUndefined();
  });
});

describe('strata that explain why another wave trips', () => {
  it('are not found for one failure: one is in some stratum always', () => {
    expect(
      findOutlierCauses(view({ tried: [[1, 0], ...well(9, 1_000)], size: 2_000 }), anyWave(0)),
    ).toBeUndefined();
    expect(indexes(findOutlierCauses(view({ tried: [[2, 0], ...well(9, 20)] }), anyWave(0)))).toEqual([0]);
  });

  it('have to stand out more the more strata were looked at', () => {
    // Two of two, half a failure in 13 reckoned with elsewhere: 0.15 %, against 5 % of 5 strata, and of 40.
    expect(indexes(findOutlierCauses(view({ tried: [[2, 0], ...well(4, 3)] }), anyWave(0)))).toEqual([0]);
    expect(
      findOutlierCauses(view({ tried: [[2, 0], ...well(4, 3), ...well(35, 0)] }), anyWave(0)),
    ).toBeUndefined();
  });
});

describe('strata that explain why any wave trips', () => {
  it('are not found when they are no exception', () => {
    const three = [[4, 0], [4, 0], [4, 0], ...well(9, 20)] as const;
    expect(findOutlierCauses(view({ tried: three }), canary(0, 1, 2))).toBeUndefined();
    const everywhere = [[4, 6], ...Array.from({ length: 9 }, () => [3, 7] as const)] as const;
    expect(findOutlierCauses(view({ tried: everywhere }), canary(0))).toBeUndefined();
  });
});

describe('strata that may yet explain it', () => {
  const running = (count: number) => Array.from({ length: count }, () => [0, 0, 1] as const);

  it('are not waited for when nothing runs, or nothing that runs could change it', () => {
    expect(mayFindCulprits(view({ tried: [[1, 0], ...running(3), [0, 0]] }), canary(0))).toBe(false);
    expect(mayFindCulprits(view({ tried: [[1, 0], ...well(9, 1)] }), canary(0))).toBe(false);
    expect(mayFindCulprits(view({ tried: [[1, 0], ...running(9)] }), anyWave(0))).toBe(false);
  });

  it('are not made harmless by what still runs of them in another wave', () => {
    const strata = [
      aStratumSummary({ stratum: 0, wave: 0, failed: 2 }),
      aStratumSummary({ stratum: 0, wave: 1, active: 40 }),
      ...[1, 2, 3, 4].map((stratum) => aStratumSummary({ stratum, wave: 1, active: 4 })),
    ];
    // Two of two, none of sixteen elsewhere if those end well.
    expect(mayFindCulprits(withStrata(strata, { count: 5 }), anyWave(0))).toBe(true);
  });
});

describe('isolation in general', () => {
  const given = fc.record({
    tried: fc.array(
      fc.tuple(
        fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 8 })),
        fc.integer({ min: 0, max: 30 }),
        fc.integer({ min: 0, max: 4 }),
      ),
      { minLength: 2, maxLength: 16 },
    ),
    held: fc.uniqueArray(fc.integer({ min: 0, max: 15 }), { maxLength: 2 }),
    acknowledged: fc.uniqueArray(
      fc.record({ stratum: fc.integer({ min: 0, max: 15 }), failed: fc.integer({ min: 1, max: 4 }) }),
      {
        maxLength: 2,
        selector: ({ stratum }) => stratum,
      },
    ),
  });

  it('names only strata with figures that stand out, few of them, none of them held, never when most fail', () => {
    let found = 0;
    fc.assert(
      fc.property(given, fc.boolean(), fc.boolean(), (made, isTripped, triesEachStratum) => {
        const held = made.held.filter((stratum) => stratum < made.tried.length);
        const of = view({ ...made, held, size: 40 });
        const culprits = isTripped
          ? (findOutlierCauses(of, { triesEachStratum, isWithinBoundsWithout: (aside) => aside.size >= 1 }) ??
            [])
          : findOutliers(of);
        const rates = of.strata.map(({ stratum, failed, succeeded }) => {
          const known = made.acknowledged.find((each) => each.stratum === stratum)?.failed ?? 0;
          const fresh = Math.max(0, failed - known);
          return { stratum, failed: fresh, tried: fresh + succeeded };
        });
        const wasTried =
          rates.filter(({ tried, stratum }) => tried > 0 && !held.includes(stratum)).length + held.length;
        if (culprits.length > 0) {
          found += 1;
          expect(culprits.length + held.length).toBeLessThanOrEqual(Math.max(1, Math.floor(wasTried / 5)));
          expect((culprits.length + held.length) * 2).toBeLessThanOrEqual(made.tried.length);
        }
        const rest = rates.filter(
          ({ stratum }) => !held.includes(stratum) && !indexes(culprits)?.includes(stratum),
        );
        const restShare =
          rest.reduce((sum, { failed }) => sum + failed, 0) /
          Math.max(
            1,
            rest.reduce((sum, { tried }) => sum + tried, 0),
          );
        for (const culprit of culprits) {
          const { stratum } = culprit;
          expect(held).not.toContain(stratum);
          const { failed, tried } = rates.find((each) => each.stratum === stratum) ?? { failed: 0, tried: 0 };
          expect(failed).toBeGreaterThanOrEqual(isTripped && triesEachStratum ? 1 : 2);
          expect(failed / tried).toBeGreaterThan(restShare);
          expect(culprit).toMatchObject({ failed, tried });
          expect(restShare).toBeLessThan(0.5);
        }
      }),
      { numRuns: 1_000 },
    );
    expect(found).toBeGreaterThan(100);
  });

  it('finds nothing more in the very same figures once it was done', () => {
    fc.assert(
      fc.property(given, ({ tried, acknowledged }) => {
        const of = view({ tried, acknowledged, size: 40 });
        const first = findOutliers(of);
        if (first.length === 0) return;
        const heldStrata = first.map(
          (each): HeldStratum => ({ ...each, reason: because(''), by: 'daemon', at: startedAt }),
        );
        const then = findOutliers({ ...of, rollout: { ...of.rollout, heldStrata } });
        for (const { stratum } of then) expect(indexes(first)).not.toContain(stratum);
      }),
      { numRuns: 1_000 },
    );
  });
});
