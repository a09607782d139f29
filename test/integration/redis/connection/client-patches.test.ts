import { once } from 'node:events';
import { createServer } from 'node:net';
import { Cluster, Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { invariant } from '../../../../src/base/assert.ts';
import { makeRedisConnection } from '../../../../src/redis/connection/connection.ts';
import { ending } from '../../../support/ending.ts';
import { findFreePort } from '../../../support/network/free-port.ts';
import { listenHere } from '../../../support/network/listen-here.ts';
import { loseSlot, startCluster, startClusterNode } from '../../../support/redis/redis-cluster.ts';
import { redisServerCommand } from '../../../support/redis/redis-process.ts';
import { until } from '../../../support/until.ts';

const placeOf = (port: number) => ({ cluster: [{ host: '127.0.0.1', port }], keyPrefix: 'upwave' });

describe('a client that is disconnected while it reconnects', () => {
  it.each([
    ['of one Redis', (port: number) => ({ url: `redis://127.0.0.1:${port}` })],
    ['of a Cluster', (port: number) => ({ cluster: [{ host: '127.0.0.1', port }] })],
  ])('%s ends, and so does a duplicate, such as BullMQ makes', async (_name, place) => {
    const config = { ...place(await findFreePort()), keyPrefix: 'x' };
    const { client, close } = makeRedisConnection(config, 'worker');
    const copy = 'nodes' in client ? client.duplicate() : client.duplicate();
    copy.on('error', () => undefined);
    for (const each of [copy, client]) {
      await expect.poll(() => each.status, { interval: 1 }).toBe('reconnecting');
      const waiting = each.get('key');
      const ended = new Promise((resolve) => each.once('end', resolve));
      each.disconnect();
      await ended;
      await expect(waiting).rejects.toThrow('Connection is closed.');
      expect(each.status).toBe('end');
    }
    await close();
  });
});

describe('a connection to a frozen Redis', () => {
  it('closes with all its duplicates, including one that reconnects', async () => {
    let made = 0;
    // The system accepts for a process that is frozen; nothing is read, answered or ended.
    const frozen = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      made += 1;
      socket.on('error', () => undefined);
    });
    const { port } = ending(await listenHere(frozen));
    const connection = makeRedisConnection({ url: `redis://127.0.0.1:${port}`, keyPrefix: 'x' }, 'worker');
    const { client } = connection;
    invariant(client instanceof Redis, 'a URL leads to a single Redis');
    const duplicate = client.duplicate();
    duplicate.on('error', () => undefined);
    await until('both to be connected', () => made === 2);
    // As BullMQ does it when it closes a worker.
    duplicate.once('end', () => void duplicate.connect().catch(() => undefined));
    duplicate.disconnect();
    await until('it to be connected again', () => made === 3);
    await connection.close();
    await Promise.all(
      [client, duplicate].map((each) => until('it to end', () => each.status === 'end', 10_000)),
    );
    expect(made).toBe(3);
  });
});

describe.skipIf(redisServerCommand === undefined)('a client of a Redis Cluster', () => {
  // BullMQ waits for this with no limit: a worker that never hears of it takes no job any more.
  it('rejects an attempt to connect while the cluster is incomplete (P11)', async () => {
    const server = ending(await startCluster());
    const { client } = ending(makeRedisConnection(placeOf(server.port), 'worker'));
    invariant(client instanceof Cluster, 'a cluster was configured');
    // As BullMQ makes its own of ours.
    const blocking = client.duplicate();
    await once(blocking, 'ready');
    blocking.disconnect();
    await once(blocking, 'end');
    await loseSlot(server);
    const attempt = blocking.connect().then(
      () => 'connected',
      () => 'refused',
    );
    await once(blocking, 'reconnecting');
    const ready = once(blocking, 'ready');
    await server.ask('CLUSTER ADDSLOTS 0');
    await ready;
    expect(await attempt).toBe('refused');
    expect(await blocking.get('nothing')).toBeNull();
  });

  it('rejects its waiting commands when it is closed, although all its nodes close together', async () => {
    const lower = ending(await startClusterNode());
    const upper = ending(await startClusterNode());
    await lower.ask('CLUSTER ADDSLOTSRANGE 0 8191');
    await upper.ask('CLUSTER ADDSLOTSRANGE 8192 16383');
    await upper.ask(`CLUSTER MEET 127.0.0.1 ${lower.port}`);
    // Slot 3300, and slot 15495.
    const both = [
      ['b', lower],
      ['a', upper],
    ] as const;
    await until('the cluster to be whole', async () => {
      const answers = await Promise.all(both.map(([key, node]) => node.ask(`SET ${key} yes`)));
      return answers.every((answer) => answer === '+OK');
    });
    const reported: string[] = [];
    const { client, commands, close } = makeRedisConnection(placeOf(lower.port), 'worker', {
      onTransient: ({ message }) => reported.push(message),
    });
    await Promise.all(both.map(([key]) => commands.get(key)));
    await lower.ask('CLUSTER DELSLOTS 0');
    const waiting = commands.set('b', 'no').catch((error: unknown) => error);
    await until('it to wait', () => reported.length > 2);
    await close();
    expect(await waiting).toBeInstanceOf(Error);
    expect(client.status).toBe('end');
    await expect(commands.get('a')).rejects.toThrow();
  });
});
