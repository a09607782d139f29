import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RedisConfig } from '../../redis/connection/redis-config.ts';
import type { EmbeddedRedis, EmbeddedRedisLog } from '../../redis/embedded/server-process.ts';
import { startEmbeddedRedis } from '../../redis/embedded/start-embedded-redis.ts';
import { CommandFailure } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import { fileFailure } from './write-lines.ts';

/** The embedded Redis is not shared, so its prefix is fixed. */
export const embeddedKeyPrefix = 'upwave';

export interface ChosenRedis {
  readonly redis: RedisConfig;
  /**
   * Waits for work that needs this Redis.
   * @throws CommandFailure when an embedded Redis has stopped and could not be started again
   */
  whileRunning<T>(work: Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * Opens the chosen Redis. An embedded Redis is started, and `close` stops it.
 * @param dataDir where an embedded Redis keeps its data; null: in memory only
 */
export async function withRedis(
  chosen: RedisConfig | 'embedded',
  dataDir: string | null,
  log: EmbeddedRedisLog,
): Promise<ChosenRedis> {
  if (chosen !== 'embedded')
    return { redis: chosen, whileRunning: (work) => work, close: async () => undefined };
  if (dataDir !== null) makeDataDir(dataDir);
  const embedded = await openEmbedded(dataDir, log);
  return {
    redis: { keyPrefix: embeddedKeyPrefix, url: embedded.url },
    whileRunning: (work) => Promise.race([work, untilLost(embedded)]),
    close: () => embedded.close(),
  };
}

async function untilLost({ lost }: EmbeddedRedis): Promise<never> {
  const advice = 'start upwave again; its log, on stdout and stderr, shows when the Redis stopped';
  const message = `the embedded Redis stopped and could not be started again (${await lost}); ${advice}`;
  throw new CommandFailure(exitCodes.unreachable, message);
}

/** @throws CommandFailure when none can be started, or a running upwave uses its data */
export async function openEmbedded(dataDir: string | null, log: EmbeddedRedisLog): Promise<EmbeddedRedis> {
  try {
    return await startEmbeddedRedis({ dataDir, log });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(exitCodes.unreachable, message, { cause: error });
  }
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
