import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RedisConfig } from '../../redis/connection/redis-config.ts';
import { startEmbeddedRedis } from '../../redis/embedded/start-embedded-redis.ts';
import { fileFailure } from './write-lines.ts';

/** Nobody shares it, so no config has a say. */
export const embeddedKeyPrefix = 'upwave';

export interface ChosenRedis {
  readonly redis: RedisConfig;
  close(): Promise<void>;
}

/**
 * Gives the Redis that was chosen; an embedded one is started, and stopped again by `close`.
 * @param dataDir where an embedded one keeps its data, null for memory only
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
        `the embedded Redis keeps its data in ${dataDir}, and can't write there (${why}); start upwave in a folder that it may write to`,
    );
  }
}

/** Where `run --redis embedded` keeps its data: beside the config of the folder it was started in. */
export function embeddedDataDir(): string {
  return join(process.cwd(), '.upwave', 'redis');
}
