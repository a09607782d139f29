import { describe, expect, it } from 'vitest';
import { makeRedisConnections } from '../../../src/daemon/redis-connections.ts';
import { ending } from '../../support/ending.ts';
import { useRedis } from '../../support/redis/redis.ts';

const redis = useRedis();
const hourMs = 3_600_000;

async function connected() {
  let now = 1_000_000_000;
  const sink = { report: () => undefined, note: () => undefined };
  const connections = ending(makeRedisConnections(redis.config(), { sink, clock: { now: () => now } }));
  await connections.worker.commands.ping();
  return {
    connections,
    now: () => now,
    move: (byMs: number) => {
      now += byMs;
    },
  };
}

describe('records that a daemon may trust (P1)', () => {
  it('are those read since the connection to Redis was made', async () => {
    const { connections, now } = await connected();
    const agoMs = () => now() - connections.trustedSince(0);
    await expect.poll(agoMs).toBeGreaterThan(200);
    const disconnectedAt = performance.now();
    connections.worker.client.disconnect(true);
    // The instant is not before the disconnect, however late the test runs.
    await expect.poll(() => performance.now() - disconnectedAt - agoMs()).toBeGreaterThanOrEqual(0);
    expect(agoMs()).toBeGreaterThanOrEqual(0);
  });

  it('begins, after a reconnection, when creates from before have arrived', async () => {
    const { connections } = await connected();
    const arrivesMs = () => connections.trustedSince(hourMs) - connections.trustedSince(0);
    expect(arrivesMs()).toBe(0);
    connections.worker.client.disconnect(true);
    await expect.poll(arrivesMs).toBe(hourMs);
  });

  it('include those read now, when the clock is set back', async () => {
    const { connections, now, move } = await connected();
    move(-hourMs);
    expect(connections.trustedSince(0)).toBeLessThanOrEqual(now());
  });
});
