import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, inject } from 'vitest';
import {
  type ConnectionKind,
  makeRedisConnection,
  type RedisConnection,
} from '../../../src/redis/connection/connection.ts';
import '../setup/redis-global-setup.ts';
import { startProcess } from './start-test-redis.ts';

/** Gives a test file its Redis: the run's own, or a process when the file is run without the global setup. */
export function useRedis() {
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

  /** A config with a key prefix that no other test has. */
  const config = () => ({ url, keyPrefix: `test-${randomUUID()}` });
  /** A connection that is closed when the file's tests are over. */
  const connect = (kind: ConnectionKind = 'worker') => {
    const connection = makeRedisConnection(config(), kind);
    connections.push(connection);
    return connection;
  };
  let shared: RedisConnection | undefined;
  return {
    config,
    connect,
    /** A key prefix that no other test has, and the connection that the file's tests share. */
    place: () => {
      shared ??= connect();
      return { ...shared, keyPrefix: config().keyPrefix };
    },
  };
}
