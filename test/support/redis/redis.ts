import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, inject } from 'vitest';
import {
  type ConnectionKind,
  makeRedisConnection,
  type RedisConnection,
} from '../../../src/redis/connection/connection.ts';
import type { RedisConfig } from '../../../src/redis/connection/redis-config.ts';
import '../setup/redis-global-setup.ts';
import { startProcess } from './start-test-redis.ts';

export interface RedisForTests {
  /** A config with a key prefix that no other test has. */
  config(): RedisConfig & { readonly url: string };
  /** A connection that is closed when the file's tests are over. */
  connect(kind?: ConnectionKind): RedisConnection;
  /** A key prefix that no other test has, and the connection that the file's tests share. */
  place(): RedisConnection & { readonly keyPrefix: string };
}

/** Gives a test file its Redis: the run's own, or a process when the file is run without the global setup. */
export function useRedis(): RedisForTests {
  const connections: RedisConnection[] = [];
  let url = '';
  let stop = async (): Promise<void> => undefined;

  beforeAll(async () => {
    const shared = inject('redis');
    if (shared !== undefined) {
      url = shared.url;
      return;
    }
    const own = await startProcess();
    url = own.url;
    stop = () => own.close();
  });
  afterAll(async () => {
    await Promise.all(connections.map((connection) => connection.close()));
    await stop();
  });

  const config = () => ({ url, keyPrefix: `test-${randomUUID()}` });
  const connect = (kind: ConnectionKind = 'worker') => {
    const connection = makeRedisConnection(config(), kind);
    connections.push(connection);
    return connection;
  };
  let shared: RedisConnection | undefined;
  return {
    config,
    connect,
    place: () => {
      shared ??= connect();
      return { ...shared, keyPrefix: config().keyPrefix };
    },
  };
}
