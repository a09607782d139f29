import { describe, expect, it } from 'vitest';
import { BrokenRecordError, makeBrokenRecords } from '../../../../src/redis/schema/unreadable-records.ts';

const fail = (what: string) => () => {
  throw new BrokenRecordError(what, new Error('cut off'));
};

describe('records that cannot be read', () => {
  it('are left out, and reported once each', () => {
    const reports: string[] = [];
    const broken = makeBrokenRecords(({ message }) => reports.push(message));
    for (const what of ['a', 'b', 'a']) expect(broken.read(fail(what))).toBeUndefined();
    expect(broken.read(() => 7)).toBe(7);
    expect(reports).toEqual(['a in Redis is unreadable: cut off', 'b in Redis is unreadable: cut off']);
    expect([broken.isKnown('a'), broken.isKnown('c')]).toEqual([true, false]);
  });

  it('are remembered up to a bound', () => {
    const reports: string[] = [];
    const broken = makeBrokenRecords(({ what }) => reports.push(what));
    for (let each = 0; each <= 10_000; each += 1) broken.read(fail(String(each)));
    expect([broken.isKnown('0'), broken.isKnown('1'), broken.isKnown('10000')]).toEqual([false, true, true]);
  });

  it('do not hide a bug', () => {
    const broken = makeBrokenRecords(() => undefined);
    const bug = () => {
      throw new TypeError('a bug');
    };
    expect(() => broken.read(bug)).toThrow('a bug');
  });
});
