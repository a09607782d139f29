import { describe, expect, it } from 'vitest';
import { findOverlaps } from '../../../../src/rollout/planning/overlap.ts';

const members = (...ids: readonly number[]) => ids.map((id) => ({ id, name: `collector-${id}` }));

describe('overlapping policies', () => {
  it('are named in pairs, with how many collectors both claim and a few of their names', () => {
    const claims = [
      { policy: 'a', members: members(5, 4, 3, 2, 1) },
      { policy: 'b', members: members(1, 2, 4, 5, 9) },
      { policy: 'c', members: members(7, 9) },
    ];
    expect(findOverlaps(claims)).toEqual([
      { policies: ['a', 'b'], count: 4, names: ['collector-1', 'collector-2', 'collector-4'] },
      { policies: ['b', 'c'], count: 1, names: ['collector-9'] },
    ]);
  });
});
