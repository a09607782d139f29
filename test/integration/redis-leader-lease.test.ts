import { afterEach, describe, expect, it } from 'vitest';
import type { LeaderLease } from '../../src/orchestrator/ports.ts';
import { makeRedisLeaderLease } from '../../src/redis/redis-leader-lease.ts';
import { useRedis } from '../support/redis.ts';

const redis = useRedis();
const leases: LeaderLease[] = [];

afterEach(async () => {
  await Promise.all(leases.splice(0).map((lease) => lease.release()));
});

function aLease(
  keyPrefix: string,
  parts: { leaseMs?: number; monotonicNow?: () => number } = {},
): LeaderLease {
  const lease = makeRedisLeaderLease({ commands: redis.connect().commands, keyPrefix, ...parts });
  leases.push(lease);
  return lease;
}

describe('the leader lease', () => {
  it('has one holder, and another one after its release, with a higher fence', async () => {
    const { keyPrefix } = redis.config();
    const [first, second] = [aLease(keyPrefix, { leaseMs: 300 }), aLease(keyPrefix, { leaseMs: 300 })];
    expect(await first.hold()).toBe(1);
    expect(await second.hold()).toBeUndefined();
    expect(await first.hold()).toBe(1);
    await first.release();
    expect(await first.hold()).toBeUndefined();
    await expect.poll(() => second.hold()).toBe(2);
  });

  it('gives one of many who ask at once the lead', async () => {
    const { keyPrefix } = redis.config();
    const fences = await Promise.all(Array.from({ length: 5 }, () => aLease(keyPrefix).hold()));
    expect(fences.filter((fence) => fence !== undefined)).toEqual([1]);
  });

  it('is renewed while it is held, beyond its length', async () => {
    const { keyPrefix } = redis.config();
    const [first, second] = [aLease(keyPrefix, { leaseMs: 150 }), aLease(keyPrefix, { leaseMs: 150 })];
    await first.hold();
    const until = performance.now() + 500;
    while (performance.now() < until) {
      expect(await second.hold()).toBeUndefined();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });

  it('is taken over when its holder dies, with a higher fence', async () => {
    const { keyPrefix } = redis.config();
    const commands = redis.connect().commands;
    await commands.set(`${keyPrefix}:{leader}:epoch`, 41);
    await commands.set(`${keyPrefix}:{leader}:lease`, 'a daemon that was killed', 'PX', 200);
    const lease = aLease(keyPrefix, { leaseMs: 200 });
    expect(await lease.hold()).toBeUndefined();
    await expect.poll(() => lease.hold()).toBe(42);
  });

  it('is not acted on in its last sixth, by a clock that does not jump', async () => {
    let nowMs = 1_000;
    const lease = aLease(redis.config().keyPrefix, { leaseMs: 60_000, monotonicNow: () => nowMs });
    expect(await lease.hold()).toBe(1);
    nowMs += 49_999;
    expect(await lease.hold()).toBe(1);
    nowMs += 1;
    expect(await lease.hold()).toBeUndefined();
  });

  it('does not release a lease that another one took meanwhile', async () => {
    const { keyPrefix } = redis.config();
    const commands = redis.connect().commands;
    const lease = aLease(keyPrefix, { leaseMs: 60_000 });
    await lease.hold();
    await commands.set(`${keyPrefix}:{leader}:lease`, 'another');
    await lease.release();
    expect(await commands.get(`${keyPrefix}:{leader}:lease`)).toBe('another');
  });
});
