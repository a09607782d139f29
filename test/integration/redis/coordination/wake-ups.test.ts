import { describe, expect, it } from 'vitest';
import { makeRedisWakeUps, type RedisWakeUps } from '../../../../src/redis/coordination/wake-ups.ts';
import { useRedis } from '../../../support/redis/redis.ts';

const redis = useRedis();

async function aWakeUps(
  keyPrefix: string,
): Promise<{ wakeUps: RedisWakeUps; wakeCount: () => number; stop: () => void }> {
  const subscriber = redis.connect();
  const publisher = redis.connect();
  await Promise.all([subscriber.commands.ping(), publisher.commands.ping()]);
  const subscribers = async () =>
    Number((await publisher.client.pubsub('NUMSUB', `${keyPrefix}:wakeUps`))[1]);
  const before = await subscribers();
  const wakeUps = makeRedisWakeUps({ publisher, subscriber, keyPrefix });
  let count = 0;
  const stop = wakeUps.onWakeUp(() => {
    count += 1;
  });
  await expect.poll(subscribers).toBe(before + 1);
  return { wakeUps, wakeCount: () => count, stop };
}

describe('a wake-up', () => {
  it('reaches its own daemon at once, and the other daemons soon', async () => {
    const { keyPrefix } = redis.config();
    const here = await aWakeUps(keyPrefix);
    const there = await aWakeUps(keyPrefix);
    here.wakeUps.wake();
    expect(here.wakeCount()).toBe(1);
    await expect.poll(there.wakeCount).toBe(1);
    there.wakeUps.wake();
    await expect.poll(here.wakeCount).toBe(2);
    expect(there.wakeCount()).toBe(2);
  });

  it('merges many concurrent ones into a few, including the last one', async () => {
    const { keyPrefix } = redis.config();
    const here = await aWakeUps(keyPrefix);
    const there = await aWakeUps(keyPrefix);
    for (let count = 0; count < 1_000; count += 1) here.wakeUps.wake();
    await expect.poll(there.wakeCount).toBe(2);
    expect(here.wakeCount()).toBe(2);
  });

  it('does not reach a removed listener, nor another key prefix', async () => {
    const { keyPrefix } = redis.config();
    const here = await aWakeUps(keyPrefix);
    const elsewhere = await aWakeUps(redis.config().keyPrefix);
    const there = await aWakeUps(keyPrefix);
    here.stop();
    here.wakeUps.wake();
    await expect.poll(there.wakeCount).toBe(1);
    expect(here.wakeCount()).toBe(0);
    expect(elsewhere.wakeCount()).toBe(0);
  });
});
