import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RedisConfig } from '../../redis/connection/redis-config.ts';
import { startEmbeddedRedis } from '../../redis/embedded/start-embedded-redis.ts';
import { fileFailure } from './write-lines.ts';

/** The embedded Redis is not shared, so its prefix is fixed. */
export const embeddedKeyPrefix = 'upwave';

export interface ChosenRedis {
  readonly redis: RedisConfig;
  close(): Promise<void>;
}

/**
 * Opens the chosen Redis. An embedded Redis is started, and `close` stops it.
 * @param dataDir where an embedded Redis keeps its data; null: in memory only
 */
export async function withRedis(
  chosen: RedisConfig | 'embedded',
  dataDir: string | null,
  log: (text: string) => void,
): Promise<ChosenRedis> {
  if (chosen !== 'embedded') return { redis: chosen, close: async () => undefined };
  if (dataDir !== null) makeDataDir(dataDir);
  const embedded = await startEmbeddedRedis({ dataDir, log });
  return {
    redis: { keyPrefix: embeddedKeyPrefix, url: embedded.url },
    close: () => embedded.close(),
  };
}

function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.W_OK);
  } catch (error) {
    throw fileFailure(
      error,
      (why) =>
        `the embedded Redis cannot write to its data directory ${dataDir} (${why}); start upwave in a folder that it may write to`,
    );
  }
}

/** Where `run --redis embedded` keeps its data: in the folder in which it is started. */
export function embeddedDataDir(): string {
  return join(process.cwd(), '.upwave', 'redis');
}
