import { describe, expect, it } from 'vitest';
import { makeRecentUpgrades } from '../../../../src/redis/rollout-store/recent-upgrades.ts';
import { encodeUpgrade } from '../../../../src/redis/schema/stored-upgrade.ts';
import { BrokenRecordError } from '../../../../src/redis/schema/unreadable-records.ts';
import { anEndedOne } from '../../../support/upgrade-cases.ts';

const of = { rolloutId: 'night-20260701-1', version: 1 };
const storedAs = (rev: number) => `w${rev} ${encodeUpgrade({ ...anEndedOne('failed'), rev }, 1)}`;

describe('upgrades that were decoded a moment ago', () => {
  it('are decoded once while their record is the same', () => {
    const decode = makeRecentUpgrades();
    const first = decode(storedAs(3), of, '1');
    expect(first.rev).toBe(3);
    expect(decode(storedAs(3), of, 1)).toBe(first);
    expect(decode(storedAs(4), of, '1').rev).toBe(4);
    expect(decode(storedAs(5), of, '1').rev).toBe(5);
  });

  it('are not those of another rollout or collector', () => {
    const decode = makeRecentUpgrades();
    const first = decode(storedAs(3), of, 1);
    expect(decode(storedAs(3), { ...of, rolloutId: 'night-20260702-1' }, 1)).not.toBe(first);
    expect(() => decode(storedAs(3), of, 2)).toThrow(BrokenRecordError);
    expect(() => decode(storedAs(3), of, 2)).toThrow(BrokenRecordError);
  });

  it('are dropped when a thousand others were decoded since', () => {
    const decode = makeRecentUpgrades();
    const first = decode(storedAs(3), of, 1);
    const decodeOthers = (count: number) => {
      for (let other = 0; other < count; other += 1)
        decode(storedAs(3), { ...of, rolloutId: `other-20260701-${other}` }, 1);
    };
    decodeOthers(999);
    expect(decode(storedAs(3), of, 1)).toBe(first);
    decodeOthers(1_000);
    expect(decode(storedAs(3), of, 1)).not.toBe(first);
  });
});
