import type { RedisCommands } from '../../../src/redis/connection/connection.ts';

const eachKey = (body: string) =>
  `for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do ${body} end return redis.status_reply('OK')`;

const deleteAll = eachKey("redis.call('DEL', key)");
const deleteRolloutsOnly = eachKey(
  "if not string.find(key, ':number:', 1, true) then redis.call('DEL', key) end",
);
const copyAll = eachKey("redis.call('COPY', key, ARGV[2] .. string.sub(key, #ARGV[1] + 1), 'REPLACE')");

/** Deletes the keys that begin so, as a flush does it. */
export async function deleteKeys(commands: RedisCommands, start: string): Promise<void> {
  await commands.eval(deleteAll, 0, start);
}

/** Loses every rollout, but not the numbers of the days' rollouts. */
export async function deleteRollouts(commands: RedisCommands, start: string): Promise<void> {
  await commands.eval(deleteRolloutsOnly, 0, start);
}

/** Copies the keys that begin so to keys that begin otherwise, with their expiries. */
export async function copyKeys(commands: RedisCommands, from: string, to: string): Promise<void> {
  await commands.eval(copyAll, 0, from, to);
}
