import { describe, expect, it } from 'vitest';
import { makeGroupsCache } from '../../../../src/redis/rollout-store/groups-cache.ts';
import { someGroups } from '../../../support/builders.ts';

describe('the groups that are known', () => {
  it('are those of the eight rollouts that were used last', () => {
    const cache = makeGroupsCache();
    const known = { mark: 'a', groups: someGroups() };
    for (const rollout of ['1', '2', '3', '4', '5', '6', '7', '8']) cache.set(rollout, known);
    expect(cache.get('1')).toBe(known);
    cache.set('9', known);
    expect(cache.get('2')).toBeUndefined();
    expect(cache.get('1')).toBe(known);
    const newer = { ...known, mark: 'b' };
    cache.set('3', newer);
    expect(cache.get('3')).toBe(newer);
    expect(cache.get('4')).toBe(known);
  });
});
