import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assessRedis } from '../../../../src/redis/connection/assess-redis.ts';
import { makeRedisConnection } from '../../../../src/redis/connection/connection.ts';
import { describeRedis, redactRedisText } from '../../../../src/redis/connection/redis-config.ts';
import { aFolder } from '../../../support/a-folder.ts';
import { ending } from '../../../support/ending.ts';
import { findFreePort } from '../../../support/network/free-port.ts';
import { listenHere } from '../../../support/network/listen-here.ts';
import { startFakeSentinel } from '../../../support/redis/fake-sentinel.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { startProcess } from '../../../support/redis/start-test-redis.ts';
import { until } from '../../../support/until.ts';

const redis = useRedis();

/** A server through which everybody gets to Redis. */
function aRelay(): Server {
  const { hostname, port } = new URL(redis.config().url);
  return createServer((socket) => {
    const behind = connect({ host: hostname, port: Number(port) });
    for (const each of [socket, behind]) each.on('error', () => socket.destroy());
    socket.pipe(behind).pipe(socket);
  });
}

describe('a connection', () => {
  it('answers on a unix socket too', async () => {
    const path = join(aFolder(), 'redis.sock');
    const { password } = new URL(redis.config().url);
    const relay = aRelay().listen(path);
    const url = password === '' ? `unix://${path}` : `${path}?password=${password}`;
    const connection = makeRedisConnection({ url, keyPrefix: 'x' }, 'worker');
    expect(await connection.commands.ping()).toBe('PONG');
    await connection.close();
    relay.close();
  });

  it('for handlers fails at once during an outage of Redis, while one for workers waits', async () => {
    const config = { url: `redis://:s3cret@127.0.0.1:${await findFreePort()}`, keyPrefix: 'x' };
    const reasons: string[] = [];
    const notes = { onReachable: () => undefined, onUnreachable: (reason: string) => reasons.push(reason) };
    const handler = makeRedisConnection(config, 'handler', notes);
    const worker = makeRedisConnection(config, 'worker', notes);
    await expect(handler.commands.get('key')).rejects.toThrow();
    let answered = false;
    const waiting = worker.commands.get('key').finally(() => {
      answered = true;
    });
    await expect.poll(() => reasons.length).toBe(2);
    expect(answered).toBe(false);
    expect(reasons[0]).toContain('ECONNREFUSED');
    expect(handler.isReady()).toBe(false);
    await Promise.all([handler.close(), worker.close()]);
    await expect(waiting).rejects.toThrow();
  });
});

describe('a connection whose sign-in is refused', () => {
  it.each([
    ['without a password', '', 'NOAUTH'],
    ['with another password', ':another@', 'WRONGPASS'],
  ])('%s says which settings to check, and shows no password', async (_name, credentials, code) => {
    const own = ending(await startProcess());
    const owner = ending(makeRedisConnection({ url: own.url, keyPrefix: 'x' }, 'worker'));
    await owner.commands.config('SET', 'requirepass', 'the-password');
    const reasons: string[] = [];
    const onUnreachable = (reason: string) => reasons.push(reason);
    const url = `redis://${credentials}${new URL(own.url).host}`;
    ending(makeRedisConnection({ url, keyPrefix: 'x' }, 'worker', { onUnreachable }));
    await until('the report', () => reasons.length > 0);
    expect(reasons).toEqual([
      `Redis refuses the sign-in (${code}): check the user, and redis.password or redis.passwordFile`,
    ]);
  });
});

describe('a connection whose server goes away', () => {
  it.each([
    ['with FIN', (socket: Socket) => socket.end()],
    ['with RST', (socket: Socket) => socket.resetAndDestroy()],
  ])('%s is reported with the same message', async (_name, leave) => {
    const taken: Socket[] = [];
    const relay = aRelay().on('connection', (socket) => taken.push(socket));
    const url = new URL(redis.config().url);
    url.host = `127.0.0.1:${ending(await listenHere(relay)).port}`;
    const reasons: string[] = [];
    const onUnreachable = (reason: string) => reasons.push(reason);
    const connection = ending(
      makeRedisConnection({ url: url.href, keyPrefix: 'x' }, 'worker', { onUnreachable }),
    );
    expect(await connection.commands.ping()).toBe('PONG');
    relay.close();
    for (const socket of taken) leave(socket);
    await until('the report', () => reasons.length > 0);
    expect(reasons).toEqual(['the connection was closed']);
  });
});

describe('sentinels', () => {
  const local = (port: number) => ({ host: '127.0.0.1', port });

  it('that accept connections and never answer are skipped', async () => {
    const { port, password } = new URL(redis.config().url);
    const frozen = ending(await startFakeSentinel(null));
    const sentinel = ending(await startFakeSentinel(Number(port)));
    const sentinels = [local(frozen.port), local(sentinel.port)];
    const config = { sentinels, name: 'group', keyPrefix: 'x', ...(password === '' ? {} : { password }) };
    const connection = ending(makeRedisConnection(config, 'worker'));
    expect(await connection.commands.ping()).toBe('PONG');
    expect(frozen.asked).not.toEqual([]);
  });
});

describe('the check of Redis at start', () => {
  it('names the risks of its settings, if any', async () => {
    const own = ending(await startProcess());
    const connection = ending(makeRedisConnection({ url: own.url, keyPrefix: 'x' }, 'worker'));
    if (own.persistent) expect(await assessRedis(connection.commands)).toEqual([]);
    await connection.commands.config('SET', 'maxmemory-policy', 'allkeys-lru');
    if (own.persistent) await connection.commands.config('SET', 'appendonly', 'no');
    const risks = await assessRedis(connection.commands);
    expect(risks[0]).toMatch(/maxmemory-policy allkeys-lru/);
    expect(risks[1]).toMatch(/append-only file/);
  });
});

describe('the description of a Redis', () => {
  it('has no credentials behind sentinels either (P12)', () => {
    const config = {
      sentinels: [{ host: 'one', port: 26379 }],
      name: 'primary',
      password: 'a-secret',
      keyPrefix: 'x',
    };
    expect(describeRedis(config)).toBe('primary at sentinels one:26379');
    expect(redactRedisText('with a-secret', config)).toBe('with ***');
    expect(describeRedis({ cluster: [{ host: 'c', port: 1 }], keyPrefix: 'x' })).toBe('cluster c:1');
  });
});
