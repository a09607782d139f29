import { describe, expect, it } from 'vitest';
import { keepLatest } from '../../../src/base/keep-latest.ts';

describe('a map of the latest', () => {
  it('keeps the entries that were set last, and counts one that is set again as new', () => {
    const map = new Map<string, string>();
    for (const key of ['a', 'b', 'c']) keepLatest(map, key, 'old', 3);
    keepLatest(map, 'a', 'new', 3);
    keepLatest(map, 'd', 'new', 3);
    expect([...map]).toEqual([
      ['c', 'old'],
      ['a', 'new'],
      ['d', 'new'],
    ]);
  });
});
