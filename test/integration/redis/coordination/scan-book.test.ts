import { describe, expect, it } from 'vitest';
import type { ScanEntry } from '../../../../src/orchestrator/ports/scan-book.ts';
import { makeRedisScanBook } from '../../../../src/redis/coordination/scan-book.ts';
import { makeBrokenRecords } from '../../../../src/redis/schema/unreadable-records.ts';
import { aScanEntry, startedAt } from '../../../support/builders.ts';
import { useRedis } from '../../../support/redis/redis.ts';

const redis = useRedis();
const year = 365 * 86_400_000;

describe('the scans in Redis', () => {
  it('have one entry for each policy and outcome, readable by every daemon, for a year', async () => {
    const { commands, keyPrefix } = redis.place();
    let now = startedAt;
    const book = () =>
      makeRedisScanBook({ commands, keyPrefix, now: () => now, broken: makeBrokenRecords(() => undefined) });
    const failed = aScanEntry({ outcome: 'failed', reason: 'the key is wrong' });
    const later = aScanEntry({ at: startedAt + year });
    await book().note(aScanEntry({ policy: 'a:b' }));
    await book().note(failed);
    await book().note(aScanEntry({ at: startedAt - 1 }));
    await book().note(later);
    // A hash has no order.
    const nameOf = ({ policy, outcome }: ScanEntry) => `${policy} ${outcome}`;
    const byName = (a: ScanEntry, b: ScanEntry) => (nameOf(a) < nameOf(b) ? -1 : 1);
    expect([...(await book().read())].sort(byName)).toEqual([aScanEntry({ policy: 'a:b' }), failed, later]);
    // One that can't be read is passed over.
    await commands.hset(`${keyPrefix}:{fleet}:scans`, 'busy:x', '{');
    expect(await book().read()).toHaveLength(3);
    await commands.hdel(`${keyPrefix}:{fleet}:scans`, 'busy:x');
    now = startedAt + year + 1;
    expect(await book().read()).toEqual([later]);
    await book().note(later);
    expect(await commands.hlen(`${keyPrefix}:{fleet}:scans`)).toBe(1);
  });
});
