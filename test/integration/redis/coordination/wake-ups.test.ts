import { describe, expect, it } from 'vitest';
import { makeRedisBell, type RedisBell } from '../../../../src/redis/coordination/wake-ups.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();

async function aBell(keyPrefix: string): Promise<{ bell: RedisBell; rings: () => number; stop: () => void }> {
  const subscriber = redis.connect();
  const publisher = redis.connect();
  await Promise.all([subscriber.commands.ping(), publisher.commands.ping()]);
  const subscribers = async () => Number((await publisher.client.pubsub('NUMSUB', `${keyPrefix}:bell`))[1]);
  const before = await subscribers();
  const bell = makeRedisBell({ publisher, subscriber, keyPrefix });
  let count = 0;
  const stop = bell.onRing(() => {
    count += 1;
  });
  await expect.poll(subscribers).toBe(before + 1);
  return { bell, rings: () => count, stop };
}

describe('the bell', () => {
  it('is heard at once in its own daemon, once, and soon in the others', async () => {
    const { keyPrefix } = redis.config();
    const here = await aBell(keyPrefix);
    const there = await aBell(keyPrefix);
    here.bell.ring();
    expect(here.rings()).toBe(1);
    await expect.poll(there.rings).toBe(1);
    there.bell.ring();
    await expect.poll(here.rings).toBe(2);
    expect(there.rings()).toBe(2);
  });

  it('makes many rings at once into a few, the last one included', async () => {
    const { keyPrefix } = redis.config();
    const here = await aBell(keyPrefix);
    const there = await aBell(keyPrefix);
    for (let count = 0; count < 1_000; count += 1) here.bell.ring();
    await expect.poll(there.rings).toBe(2);
    expect(here.rings()).toBe(2);
  });

  it('is not heard by a listener that left, nor with another key prefix', async () => {
    const { keyPrefix } = redis.config();
    const here = await aBell(keyPrefix);
    const elsewhere = await aBell(redis.config().keyPrefix);
    const there = await aBell(keyPrefix);
    here.stop();
    here.bell.ring();
    await expect.poll(there.rings).toBe(1);
    expect(here.rings()).toBe(0);
    expect(elsewhere.rings()).toBe(0);
  });
});
