import { describe, expect, it } from 'vitest';
import { placeBreaks } from '../../../src/rehearsal/world/what-if.ts';
import { makePlan } from '../../../src/rollout/planning/plan.ts';
import { aFleet, aPolicy, targetBuild } from '../../support/builders.ts';

/** Of twelve, each third runs Windows. */
const fleet = aFleet(12, (id) => ({ osName: id % 3 === 0 ? 'Windows' : 'Linux' }));
const windowsHeld = { heldCollectors: new Set([3, 6, 9, 12]) };

describe('the places of the collectors that a build may break', () => {
  const placesOf = (patterns: readonly string[], options = {}) => {
    const breaks = patterns.map((pattern) => {
      return { match: { osName: [pattern] }, share: 0.5, how: 'fails', afterMs: 0 } as const;
    });
    return placeBreaks({ breaks }, makePlan(aPolicy(), targetBuild, fleet, 'seed', options));
  };

  it('are in the plan, whatever the share, and each collector counts once', () => {
    expect(placesOf(['Windows'])).toEqual({ planned: 4, leftOut: [] });
    expect(placesOf(['Windows', 'Win*', 'Linux'])).toEqual({ planned: 12, leftOut: [] });
  });

  it('are out of the plan where an operator holds them', () => {
    expect(placesOf(['Windows'], windowsHeld)).toEqual({
      planned: 0,
      leftOut: [{ kind: 'held', count: 4 }],
    });
  });

  it('are nowhere without a match', () => {
    expect(placesOf(['AIX'])).toEqual({ planned: 0, leftOut: [] });
    expect(placesOf([])).toEqual({ planned: 0, leftOut: [] });
  });
});
