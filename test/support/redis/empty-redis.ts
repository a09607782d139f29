import type { RedisCommands } from '../../../src/redis/connection/connection.ts';

const lua = "for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', key) end";

/** Removes everything of one installation at one instant, as a flush does it; the Redis is shared with other tests. */
export async function emptyRedis(commands: RedisCommands, keyPrefix: string): Promise<void> {
  await commands.eval(lua, 0, `*${keyPrefix}*`);
}
