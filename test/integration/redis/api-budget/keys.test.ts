import { describe, expect, it, onTestFinished } from 'vitest';
import { makeRedisApiBudget } from '../../../../src/redis/api-budget/api-budget.ts';
import { useRedis } from '../../../support/redis/redis.ts';

const redis = useRedis();
const dayMs = 24 * 3_600_000;

describe('what the API budget keeps in Redis', () => {
  it('expires a week after its last request, so that a key which was replaced leaves nothing behind', async () => {
    const { commands, keyPrefix } = redis.place();
    const budget = makeRedisApiBudget({ commands, keyPrefix, accessId: 'anId', requestsPerSecond: 400 });
    onTestFinished(() => budget.close());
    const keysLeft = async () => {
      const keys = await commands.keys(`${keyPrefix}:*`);
      const left = await Promise.all(keys.map((key) => commands.pttl(key)));
      return { count: keys.length, shortestMs: Math.min(...left), longestMs: Math.max(...left) };
    };
    // Held meanwhile, so that its permit stands in Redis, too.
    const grant = await budget.take('poll');
    const afterRequest = await keysLeft();
    await budget.pause({ forMs: 1_000, single: true });
    const afterPause = await keysLeft();
    grant.giveBack();
    for (const { count, shortestMs, longestMs } of [afterRequest, afterPause]) {
      expect(count).toBe(2);
      expect(shortestMs).toBeGreaterThan(6.9 * dayMs);
      expect(longestMs).toBeLessThanOrEqual(7 * dayMs);
    }
  });
});
