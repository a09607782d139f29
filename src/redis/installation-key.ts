import { randomBytes } from 'node:crypto';
import type { RedisCommands } from './connection.ts';

/**
 * Reads the random key of this installation, and makes it where there is none. Access ids are hashed with it, so that
 * what is kept in Redis tells nobody which they are, nor that two installations have the same (P12).
 */
export async function readInstallationKey(redis: {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
}): Promise<string> {
  const key = `${redis.keyPrefix}:{leader}:installation`;
  const kept = await redis.commands.get(key);
  if (kept !== null) return kept;
  // Two daemons that make it at once: the first one's stays.
  await redis.commands.set(key, randomBytes(32).toString('hex'), 'NX');
  return (await redis.commands.get(key)) ?? '';
}
