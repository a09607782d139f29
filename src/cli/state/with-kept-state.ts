import { existsSync } from 'node:fs';
import { toPrintable } from '../../base/safe-text.ts';
import { sleepForReal } from '../../base/waiting.ts';
import type { Config } from '../../config/config.ts';
import { makeRedisConnection, type RedisConnection } from '../../redis/connection/connection.ts';
import { describeRedis, type RedisConfig, redactRedisText } from '../../redis/connection/redis-config.ts';
import { isRightsRefusal, writeRefusalOf } from '../../redis/connection/redis-errors.ts';
import { chooseRedis } from '../shell/choose-redis.ts';
import { CommandFailure, UsageFailure } from '../shell/command.ts';
import { exitCodes } from '../shell/exit-codes.ts';
import { openConfig } from '../shell/open-config.ts';
import { embeddedDataDir, embeddedKeyPrefix, openEmbedded } from '../shell/with-redis.ts';

/** The Redis with the state, chosen as by `run`. */
export interface StateTarget {
  readonly config: string;
  readonly redis?: string;
}

export interface KeptState {
  readonly config: Config;
  readonly connection: RedisConnection;
  readonly keyPrefix: string;
}

// A reachable Redis answers at once, but a Sentinel fail-over may be under way.
const answersWithinMs = 5_000;

/**
 * Opens the state in Redis for one command, without a daemon, and closes it afterwards.
 * @throws CommandFailure when Redis is unreachable, refuses a command, or keeps no data
 */
export async function withKeptState<T>(
  target: StateTarget,
  use: (state: KeptState) => Promise<T>,
): Promise<T> {
  const config = openConfig(target.config);
  const chosen = chooseRedis(config, target.redis);
  if (chosen !== 'embedded') return withConnection(config, chosen, use);
  return withEmbedded((redis) => withConnection(config, redis, use));
}

async function withConnection<T>(
  config: Config,
  redis: RedisConfig,
  use: (state: KeptState) => Promise<T>,
): Promise<T> {
  let why = 'no answer';
  const onUnreachable = (reason: string) => {
    why = reason;
  };
  const connection = makeRedisConnection(redis, 'worker', { onUnreachable });
  const place = describeRedis(redis);
  try {
    const giveUpAt = performance.now() + answersWithinMs;
    while (!connection.isReady() && performance.now() < giveUpAt) await sleepForReal(20);
    if (!connection.isReady()) {
      const message = `cannot reach Redis at ${place}; start it, or correct redis.url (${why})`;
      throw new CommandFailure(exitCodes.unreachable, toPrintable(message));
    }
    return await use({ config, connection, keyPrefix: redis.keyPrefix });
  } catch (error) {
    throw redisRefusal(error, redis, place);
  } finally {
    await connection.close();
  }
}

/** The data that `run --redis embedded` left on disk. A running daemon uses it exclusively. */
async function withEmbedded<T>(use: (redis: RedisConfig) => Promise<T>): Promise<T> {
  const dataDir = embeddedDataDir();
  if (!existsSync(dataDir)) throw nothingKept(`${dataDir} does not exist`);
  const server = await openEmbedded(dataDir, () => undefined);
  try {
    if (!server.persistent)
      throw nothingKept('without redis-server or valkey-server its data is in memory only');
    return await use({ keyPrefix: embeddedKeyPrefix, url: server.url });
  } finally {
    await server.close();
  }
}

function nothingKept(why: string): CommandFailure {
  return new UsageFailure(`the embedded Redis has no data here: ${why}`);
}

/** Turns a refusal of Redis that an operator can correct into a message. Other errors are returned unchanged. */
export function redisRefusal(error: unknown, redis: RedisConfig, place: string): unknown {
  const refuses = (words: string) =>
    `Redis at ${place} refuses: ${toPrintable(redactRedisText(words, redis))}`;
  if (isRightsRefusal(error)) {
    const message = `${refuses(error.message)}; allow it to this user (ACL SETUSER), or use another one`;
    return new UsageFailure(message, { cause: error });
  }
  const words = writeRefusalOf(error);
  if (words === null) return error;
  return new CommandFailure(exitCodes.unreachable, refuses(words), { cause: error });
}
