import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeRedisTime } from '../../../../src/redis/api-budget/server-time.ts';

describe('the translation of the clock of Redis', () => {
  it('is never further off than half of the quickest exchange', () => {
    const exchange = fc.record({
      toMs: fc.integer({ min: 0, max: 50 }),
      backMs: fc.integer({ min: 0, max: 50 }),
    });
    const ahead = 1_700_000_000_000;
    fc.assert(
      fc.property(fc.array(exchange, { minLength: 1 }), (exchanges) => {
        const time = makeRedisTime();
        let at = 1_000;
        for (const { toMs, backMs } of exchanges) {
          time.observe({ sentAt: at, redisAt: at + toMs + ahead, receivedAt: at + toMs + backMs });
          at += 100;
        }
        const quickestMs = Math.min(...exchanges.map(({ toMs, backMs }) => toMs + backMs));
        expect(Math.abs(time.toMonotonic(ahead + at) - at)).toBeLessThanOrEqual(quickestMs / 2);
      }),
    );
  });

  it('has a bound of its error', () => {
    const time = makeRedisTime();
    expect(time.uncertaintyMs()).toBe(Number.POSITIVE_INFINITY);
    time.observe({ sentAt: 0, receivedAt: 50, redisAt: 1_001 });
    expect(time.uncertaintyMs()).toBe(25);
    time.observe({ sentAt: 60, receivedAt: 62, redisAt: 1_061 });
    expect(time.uncertaintyMs()).toBe(1);
  });

  it('starts over when a clock was set', () => {
    const time = makeRedisTime();
    time.observe({ sentAt: 0, receivedAt: 2, redisAt: 1_001 });
    expect(time.toMonotonic(1_001)).toBe(1);
    time.observe({ sentAt: 100, receivedAt: 104, redisAt: 502 });
    expect(time.toMonotonic(502)).toBe(102);
  });
});
