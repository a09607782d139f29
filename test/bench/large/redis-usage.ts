import type { RedisCommands } from '../../../src/redis/connection/connection.ts';

/** What a Redis has done and holds. */
export interface RedisUsage {
  readonly commands: number;
  readonly memoryBytes: number;
}

export async function readRedisUsage(commands: Pick<RedisCommands, 'info'>): Promise<RedisUsage> {
  const info = await commands.info();
  const value = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
  return { commands: value('total_commands_processed'), memoryBytes: value('used_memory') };
}
