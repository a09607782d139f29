import { makeRedisConnection } from '../../../src/redis/connection/connection.ts';
import { startEmbeddedRedis } from '../../../src/redis/embedded/start-embedded-redis.ts';
import type { RedisForNight } from './redis-stores.ts';

/** A Redis that keeps nothing on disk: a server from the PATH, else Valkey in WebAssembly. */
export function startRedisForNights() {
  return startEmbeddedRedis({ dataDir: null, log: () => undefined });
}

/** A connection for one night after the other. */
export function openRedisForNights(url: string) {
  const { commands, close } = makeRedisConnection({ url, keyPrefix: 'night' }, 'worker');
  return {
    /** What a night of this seed needs, while no other of this process plays it. */
    ofNight: (seed: number): RedisForNight => ({ commands, keyPrefix: `night-${process.pid}-${seed}-` }),
    close,
  };
}
