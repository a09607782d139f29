import { once } from 'node:events';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { invariant } from '../../../../src/base/assert.ts';
import { makeRedisConnection } from '../../../../src/redis/connection/connection.ts';
import { ending } from '../../../support/ending.ts';
import { startCluster } from '../../../support/redis/redis-cluster.ts';
import { makeRedisProcess, redisServerCommand } from '../../../support/redis/redis-process.ts';

type Asked = Pick<Redis, 'ping' | 'info'>;

const rounds = 20;

/** How often Redis had to read for so many rounds of ten commands. */
async function readsFor(commands: Asked, reader: Asked): Promise<number> {
  const reads = async () =>
    Number(/^total_reads_processed:(\d+)/m.exec(await reader.info('stats'))?.[1] ?? Number.NaN);
  const before = await reads();
  for (let round = 0; round < rounds; round += 1)
    await Promise.all(Array.from({ length: 10 }, () => commands.ping()));
  const after = await reads();
  // The second question for the number is one of them.
  return after - before - 1;
}

describe.skipIf(redisServerCommand === undefined)('commands of one turn of the event loop', () => {
  it('reach Redis in one write, also from a duplicate, and after a reconnect', async () => {
    const redis = ending(await makeRedisProcess());
    await redis.start();
    const config = { url: redis.url, keyPrefix: 'x' };
    const { client } = ending(makeRedisConnection(config, 'worker'));
    const { client: reader } = ending(makeRedisConnection(config, 'worker'));
    invariant(client instanceof Redis, 'a URL leads to a single Redis');
    await Promise.all([client.ping(), reader.ping()]);
    expect(await readsFor(client, reader)).toBe(rounds);

    const copy = client.duplicate();
    await copy.ping();
    expect(await readsFor(copy, reader)).toBe(rounds);

    const isReady = once(client, 'ready');
    client.disconnect(true);
    await isReady;
    expect(await readsFor(client, reader)).toBe(rounds);
  });

  it('reach a node of a Cluster in one write', async () => {
    const { port, url } = ending(await startCluster());
    const place = { cluster: [{ host: '127.0.0.1', port }], keyPrefix: 'x' };
    const { client } = ending(makeRedisConnection(place, 'worker'));
    const { client: reader } = ending(makeRedisConnection({ url, keyPrefix: 'x' }, 'worker'));
    await Promise.all([client.ping(), reader.ping()]);
    expect(await readsFor(client, reader)).toBe(rounds);
  });
});
