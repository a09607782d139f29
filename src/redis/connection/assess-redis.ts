import type { RedisCommands } from './connection.ts';

/**
 * Checks the settings that the promises depend on (DESIGN §3, BullMQ and Redis).
 * @returns one sentence for each risk, for the operator
 */
export async function assessRedis(commands: RedisCommands): Promise<readonly string[]> {
  const [memory, persistence] = await Promise.all([
    infoOf(commands, 'memory'),
    infoOf(commands, 'persistence'),
  ]);
  const risks: string[] = [];
  const policy = memory.get('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    risks.push(
      `Redis has maxmemory-policy ${policy}: when its memory is full, it drops records of running upgrades. Set it to noeviction.`,
    );
  }
  if (persistence.get('aof_enabled') === '0') {
    risks.push(
      'Redis has no append-only file: a restart loses everything since the last snapshot. Set appendonly yes and appendfsync always.',
    );
  }
  if (persistence.get('aof_last_write_status') === 'err') {
    risks.push('Redis cannot write its append-only file. Check its disk.');
  }
  return risks;
}

// INFO instead of CONFIG GET, which managed services forbid.
async function infoOf(commands: RedisCommands, section: string): Promise<ReadonlyMap<string, string>> {
  const text = await commands.info(section);
  return new Map(
    text.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(':');
      return colon === -1 ? [] : [[line.slice(0, colon), line.slice(colon + 1)] as const];
    }),
  );
}
