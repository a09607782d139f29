import { toPrintable } from '../base/printable.ts';
import { type RedisConfig, redactRedisText } from '../redis/redis-config.ts';
import { isRightsRefusal } from '../redis/rights-refusal.ts';
import { writeRefusalOf } from '../redis/write-refusal.ts';
import { CommandFailure } from './command-failure.ts';
import { exitCodes } from './exit-codes.ts';

/** What Redis refuses that a person can mend, in Redis's own words; whatever else was thrown is given back. */
export function redisRefusal(error: unknown, redis: RedisConfig, place: string): unknown {
  const refuses = (words: string) =>
    `Redis at ${place} refuses: ${toPrintable(redactRedisText(words, redis))}`;
  if (isRightsRefusal(error)) {
    const message = `${refuses(error.message)}; allow it to this user (ACL SETUSER), or use another one`;
    return new CommandFailure(exitCodes.usageOrConfig, message, { cause: error });
  }
  const words = writeRefusalOf(error);
  if (words === null) return error;
  return new CommandFailure(exitCodes.unreachable, refuses(words), { cause: error });
}
