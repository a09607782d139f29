import { describe, expect, it } from 'vitest';
import {
  type Breach,
  findOutlierCauses,
  findOutliers,
  mayFindOutliers,
  type OutlierStratum,
} from '../../../../src/rollout/decision/outlier-strata.ts';
import type {
  AcknowledgedStratum,
  RolloutView,
  StratumSummary,
} from '../../../../src/rollout/model/rollout.ts';
import { aRollout, someGroups } from '../../../support/builders.ts';
import { aHeldStratum, alikeStrata, aViewOfStrata } from '../../../support/view-cases.ts';

/** Of each stratum how many failed, succeeded and still run. */
type Tried = ReadonlyArray<readonly [failed: number, succeeded: number, active?: number]>;

interface Given {
  /** Of each stratum. */
  readonly size?: number;
  readonly held?: readonly number[];
  readonly acknowledged?: readonly AcknowledgedStratum[];
}

function viewOf(
  strata: ReadonlyArray<Partial<StratumSummary>>,
  { size = 20, held = [], acknowledged = [] }: Given = {},
): RolloutView {
  const heldStrata = held.map((stratum) => aHeldStratum(stratum));
  const count = 1 + Math.max(...strata.map(({ stratum = 0 }) => stratum));
  const rollout = aRollout({ strata: { held: heldStrata, acknowledged } });
  return aViewOfStrata(rollout, strata, { groups: alikeStrata(count, [size]) });
}

const view = (tried: Tried, given: Given = {}) =>
  viewOf(
    tried.map(([failed, succeeded, active = 0], stratum) => ({ stratum, failed, succeeded, active })),
    given,
  );

const indexes = (found: readonly OutlierStratum[] | undefined) => found?.map(({ stratum }) => stratum);
const well = (count: number, succeeded = 10) => Array.from({ length: count }, () => [0, succeeded] as const);
const running = (count: number) => Array.from({ length: count }, () => [0, 0, 1] as const);
/** A wave with some of each stratum trips, and is within bounds once these are set aside. */
const canary = (...strata: readonly number[]): Breach => ({
  triesEachStratum: true,
  isWithinBoundsWithout: (aside) => strata.every((stratum) => aside.has(stratum)),
});
/** The same for a wave that takes whoever comes. */
const anyWave = (...strata: readonly number[]): Breach => ({ ...canary(...strata), triesEachStratum: false });

describe('an outlier stratum while all is within bounds', () => {
  const many: Given = { size: 3_000 };
  it.each<[string, Tried, Given, readonly number[]]>([
    ['not found for one failure, however well the rest is', [[1, 0], ...well(9, 2_000)], many, []],
    ['found for two', [[2, 0], ...well(9, 2_000)], many, [0]],
    ['not found among more strata by chance', [[2, 0], ...well(5, 8), ...well(2, 0)], {}, []],
    ['found with another, as a fifth of the strata tried', [[9, 1], [9, 1], ...well(8, 20)], {}, [0, 1]],
    ['not found as more than a fifth', [[9, 1], [9, 1], ...well(7, 20)], {}, []],
    ['found beside a held one, as a fifth', [[9, 1], [9, 1], ...well(8, 20)], { held: [1] }, [0]],
    ['found beside a held group without a collector', [[9, 1], ...well(5, 20)], { held: [99] }, [0]],
    ['not found beside a held one, as more', [[9, 1], [9, 1], ...well(7, 20)], { held: [1] }, []],
  ])('is %s', (_when, tried, given, found) => {
    expect(indexes(findOutliers(view(tried, given)))).toEqual(found);
  });

  it('is at most half of the plan', () => {
    const others = well(5).map(() => ({ label: 's', sizes: [16] }));
    const found = (size: number) => {
      const groups = someGroups({ strata: [{ label: 's0', sizes: [size] }, ...others] });
      return indexes(findOutliers({ ...view([[9, 1], ...well(5, 16)]), groups }));
    };
    expect([found(80), found(81)]).toEqual([[0], []]);
  });

  it('gets no credit from acknowledged failures that are retried and succeed', () => {
    const acknowledged = (stratum: number) => ({
      acknowledged: [{ stratum, wave: 0, failed: 3, weight: 3 }],
    });
    expect(findOutliers(view([[0, 3], ...well(7)], acknowledged(0)))).toEqual([]);
    expect(findOutliers(view([[2, 3], ...well(7)], acknowledged(0)))).toEqual([]);
    expect(findOutliers(view([[2, 0], [0, 8], ...well(4, 8)], acknowledged(1)))).toMatchObject([
      { failed: 2, tried: 2, elsewhere: { failed: 0, tried: 40 } },
    ]);
  });

  it('names the failures of held strata and acknowledged ones, which neither of its figures has', () => {
    const acknowledged = [{ stratum: 1, wave: 0, failed: 3, weight: 3 }];
    const tried: Tried = [[9, 1], [3, 17], [4, 1], ...well(20, 20)];
    expect(findOutliers(view(tried, { held: [2], acknowledged }))).toMatchObject([
      { stratum: 0, failed: 9, tried: 10, elsewhere: { failed: 0, tried: 417 }, uncounted: 7 },
    ]);
  });
});

describe('the outlier strata that explain why a wave exceeds its limit', () => {
  it('carry their figures, and those of the others', () => {
    expect(findOutlierCauses(view([[1, 0], ...well(4, 1)]), canary(0))).toEqual([
      { stratum: 0, label: 's0', failed: 1, tried: 1, elsewhere: { failed: 0, tried: 4 } },
    ]);
  });

  const none = undefined;
  it.each<[string, Tried, Breach, readonly number[] | undefined]>([
    ['not found on one failure while three succeeded', [[1, 0], ...well(3, 1), [0, 0]], canary(0), none],
    ['not found on one failure while others run', [[1, 0], ...well(4, 1), [0, 0, 1]], canary(0), none],
    ['not found where a second one failed as well', [[1, 0], ...well(3, 1), [1, 3]], canary(0), none],
    // Chance in one of twenty does not explain it.
    ['found while others run, by little chance', [[1, 0], ...well(10, 1), [0, 0, 1]], canary(0), [0]],
    ['not found while others run, by more chance', [[1, 0], ...well(8, 1), [0, 0, 1]], canary(0), none],
    ['not found on one failure of any wave', [[1, 0], ...well(9, 1_000)], anyWave(0), none],
    ['found on two failures of any wave', [[2, 0], ...well(9, 20)], anyWave(0), [0]],
    // Two of two, half a failure in 13 reckoned with elsewhere: 0.15 %, against 5 % of 5 strata, and of 40.
    ['found among five strata', [[2, 0], ...well(4, 3)], anyWave(0), [0]],
    ['not found on the same among forty', [[2, 0], ...well(4, 3), ...well(35, 0)], anyWave(0), none],
    ['not found as three of twelve', [[4, 0], [4, 0], [4, 0], ...well(9, 20)], canary(0, 1, 2), none],
    ['not found when most fail', [[4, 6], ...well(9).map(() => [3, 7] as const)], canary(0), none],
  ])('are %s', (_when, tried, breach, found) => {
    expect(indexes(findOutlierCauses(view(tried, { size: 2_000 }), breach))).toEqual(found);
  });
});

describe('outlier strata that running upgrades may still show', () => {
  it.each<[string, Tried, Breach]>([
    ['nothing runs', [[1, 0], ...well(9, 1)], canary(0)],
    ['too few upgrades are running', [[1, 0], ...running(3), [0, 0]], canary(0)],
    ['one failure says nothing', [[1, 0], ...running(9)], anyWave(0)],
  ])('are not waited for where %s', (_when, tried, breach) => {
    expect(mayFindOutliers(view(tried), breach)).toBe(false);
  });

  it('are waited for although upgrades of the same stratum are running in another wave', () => {
    const strata = [
      { stratum: 0, wave: 0, failed: 2 },
      { stratum: 0, wave: 1, active: 40 },
      ...[1, 2, 3, 4].map((stratum) => ({ stratum, wave: 1, active: 4 })),
    ];
    // Two of two, none of sixteen elsewhere if those end well.
    expect(mayFindOutliers(viewOf(strata), anyWave(0))).toBe(true);
  });
});
