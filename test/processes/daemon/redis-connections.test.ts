import { describe, expect, it } from 'vitest';
import { makeRedisConnections } from '../../../src/daemon/redis-connections.ts';
import { ending } from '../../support/ending.ts';
import { useRedis } from '../../support/redis/redis.ts';

const redis = useRedis();

async function connected() {
  const sink = { report: () => undefined, note: () => undefined };
  const connections = ending(makeRedisConnections(redis.config(), { sink, clock: { now: () => 0 } }));
  await connections.worker.commands.ping();
  return { connections };
}

describe('the last connection to Redis', () => {
  it('is counted, with its instant by the monotonic clock (P1)', async () => {
    const { connections } = await connected();
    const first = connections.lastJoin();
    expect(first).toMatchObject({ count: 1, isRejoin: false });
    const disconnectedAt = performance.now();
    connections.worker.client.disconnect(true);
    await expect.poll(() => connections.lastJoin()).toMatchObject({ count: 2, isRejoin: true });
    // The instant is not before the disconnect, however late the test runs.
    expect(connections.lastJoin().at).toBeGreaterThanOrEqual(disconnectedAt);
  });
});
