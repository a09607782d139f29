import { describe, expect, it } from 'vitest';
import { countEach, groupBy, mostFrequent } from '../../../src/base/grouping.ts';

describe('values', () => {
  it('are counted in the order of their first occurrence', () => {
    expect([...countEach(['b', 'a', 'b', 'c', 'c'])]).toEqual([
      ['b', 2],
      ['a', 1],
      ['c', 2],
    ]);
  });

  it('are listed by frequency, equally frequent ones in the order of their first occurrence', () => {
    expect(mostFrequent(['a', 'b', 'b', 'c', 'c']).map(([value]) => value)).toEqual(['b', 'c', 'a']);
  });

  it('are grouped by a key, and keep their order', () => {
    expect([...groupBy([1, 2, 3, 4, 5], (value) => value % 2 === 0)]).toEqual([
      [false, [1, 3, 5]],
      [true, [2, 4]],
    ]);
  });
});
