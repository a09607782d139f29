import type { RedisCommands } from '../../src/redis/connection/connection.ts';

/** How many commands a Redis was sent since its start, those that it refused and those inside of scripts included. */
export async function commandsOf(commands: RedisCommands): Promise<number> {
  const text = await commands.info('commandstats');
  const counts = [...text.matchAll(/\b(?:calls|rejected_calls)=(\d+)/g)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
