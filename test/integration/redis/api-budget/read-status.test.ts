import { describe, expect, it } from 'vitest';
import { makeRedisApiBudget } from '../../../../src/redis/api-budget/api-budget.ts';
import { apiBudgetKeys } from '../../../../src/redis/api-budget/ledger.ts';
import { makeReadApiBudgetStatus } from '../../../../src/redis/api-budget/read-status.ts';
import { ending } from '../../../support/ending.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { quietBudget } from '../../../support/redis/redis-adapters.ts';

const redis = useRedis();
const { accessId } = quietBudget;

// The status is in the time of this process, not of Redis.
const now = 1_000_000_000_000;

/** @returns `key` of the state as it is in Redis, to be written into */
function aBudget({ firstMs = 1 } = {}) {
  const { commands, keyPrefix } = redis.place();
  const shared = { ...quietBudget, commands, keyPrefix };
  const budget = ending(makeRedisApiBudget({ ...shared, pauseGrowth: { firstMs, maxMs: firstMs } }));
  const readStatus = makeReadApiBudgetStatus({ ...shared, clock: { now: () => now } });
  return { budget, readStatus, key: apiBudgetKeys(keyPrefix, accessId).state };
}

describe('the status of the API budget', () => {
  it('is all clear before the first request', async () => {
    const { readStatus } = aBudget();
    expect(await readStatus()).toEqual({
      requestsPerSecond: 0,
      requestsPerSecondNow: 400,
      requestsPerSecondMax: 400,
      rateLimited: 0,
      outage: null,
    });
  });

  it('shows the requests per second over the last 60 s', async () => {
    const { budget, readStatus, key } = aBudget();
    await Promise.all(Array.from({ length: 30 }, async () => (await budget.take('poll')).giveBack()));
    // Slots that were reserved and not used are counted, too.
    expect((await readStatus()).requestsPerSecond).toBeGreaterThanOrEqual(0.4);
    const minute = Math.floor(Date.now() / 60_000);
    await redis.connect().commands.hset(key, { granted: `${minute - 1} 240 7` });
    const { requestsPerSecond } = await readStatus();
    expect(requestsPerSecond).toBeGreaterThanOrEqual(0);
    expect(requestsPerSecond).toBeLessThanOrEqual(4);
    await redis.connect().commands.hset(key, { granted: `${minute - 3} 240 7` });
    expect((await readStatus()).requestsPerSecond).toBe(0);
  });

  it('shows a pause that the service demanded, its end, and the number of 429s (P8)', async () => {
    const { budget, readStatus } = aBudget();
    await budget.pause({ forMs: 3_600_000, single: false });
    await budget.pause({ forMs: 1_000, single: false });
    const { rateLimited, outage } = await readStatus();
    expect(rateLimited).toBe(1);
    expect(outage).toMatchObject({
      kind: 'rateLimited',
      reason: 'the service asked for a pause',
      since: null,
    });
    expect((outage?.until ?? 0) - now).toBeGreaterThan(3_500_000);
    expect((outage?.until ?? 0) - now).toBeLessThanOrEqual(3_600_000);
  });

  it('shows a throttled sign-in, also while one request tries it', async () => {
    const { budget, readStatus, key } = aBudget();
    await budget.pause({ forMs: 60_000, single: true });
    const { rateLimited, outage } = await readStatus();
    expect(rateLimited).toBe(0);
    expect(outage).toMatchObject({ kind: 'signInThrottled' });
    expect(outage?.until).toBeGreaterThan(now);
    await redis.connect().commands.hdel(key, 'pausedUntilUs');
    expect((await readStatus()).outage).toMatchObject({ kind: 'signInThrottled', until: null });
    await budget.succeeded();
    expect((await readStatus()).outage).toBeNull();
  });

  it('shows an outage: since when, why, and when the next attempt is due', async () => {
    const { budget, readStatus, key } = aBudget({ firstMs: 60_000 });
    await budget.serviceDown('ECONNREFUSED');
    const { commands } = redis.connect();
    const { downAtUs } = await commands.hgetall(key);
    await commands.hset(key, { downAtUs: String(Number(downAtUs) - 600_000_000) });
    // Found again by the request that tried it: it is down since the first time.
    await budget.serviceDown('ECONNREFUSED');
    const { outage } = await readStatus();
    expect(outage).toMatchObject({
      kind: 'serviceDown',
      reason: 'the service does not answer',
      detail: 'ECONNREFUSED',
    });
    expect(now - (outage?.since ?? 0)).toBeGreaterThanOrEqual(600_000);
    expect(now - (outage?.since ?? 0)).toBeLessThan(660_000);
    expect(outage?.until).toBeGreaterThan(now);
    await commands.hdel(key, 'pausedUntilUs');
    expect((await readStatus()).outage).toMatchObject({ kind: 'serviceDown', until: null });
    await budget.serviceUp();
    expect((await readStatus()).outage).toBeNull();
  });
});

describe('a pause whose beginning lies ahead', () => {
  it('is ignored, because the clock of Redis was set back', async () => {
    const { budget, readStatus, key } = aBudget();
    await budget.pause({ forMs: 1_000, single: false });
    const { commands } = redis.connect();
    const { pausedAtUs, pausedUntilUs } = await commands.hgetall(key);
    // As it looks from a clock that stands 50 minutes earlier.
    const aheadUs = 50 * 60_000_000;
    await commands.hset(key, {
      pausedAtUs: String(Number(pausedAtUs) + aheadUs),
      pausedUntilUs: String(Number(pausedUntilUs) + aheadUs),
    });
    expect((await readStatus()).outage).toBeNull();
  });
});
