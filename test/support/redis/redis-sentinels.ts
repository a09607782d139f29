import { until } from '../until.ts';
import { makeRedisProcess, type RedisProcess } from './redis-process.ts';

const group = 'upwave';
const quorum = 2;
const downAfterMs = 1_000;

/** A primary and its replica under three sentinels. */
export interface RedisSentinels {
  readonly primary: RedisProcess;
  readonly replica: RedisProcess;
  readonly sentinels: readonly RedisProcess[];
  /** What they call both. */
  readonly name: string;
  /** How long a primary is silent until it is taken for dead. */
  readonly downAfterMs: number;
  /** The section `redis` of a config file. */
  readonly section: { readonly sentinels: readonly string[]; readonly name: string };
  /** Kills the primary, and returns when the replica is promoted. */
  failOver(): Promise<void>;
  close(): Promise<void>;
}

export async function startRedisSentinels(): Promise<RedisSentinels> {
  const primary = await makeRedisProcess();
  await primary.start();
  const replica = await makeRedisProcess({ args: ['--replicaof', '127.0.0.1', String(primary.port)] });
  await replica.start();
  const sentinel = [
    `sentinel monitor ${group} 127.0.0.1 ${primary.port} ${quorum}`,
    `sentinel down-after-milliseconds ${group} ${downAfterMs}`,
    `sentinel failover-timeout ${group} 10000`,
    '',
  ].join('\n');
  const sentinels = await Promise.all([1, 2, 3].map(() => makeRedisProcess({ sentinel })));
  await Promise.all(sentinels.map((each) => each.start()));
  await until('the sentinels to know each other and the replica', async () => {
    const answers = await Promise.all(sentinels.map((each) => each.ask(`SENTINEL CKQUORUM ${group}`)));
    const replicas = await Promise.all(sentinels.map((each) => each.ask(`SENTINEL REPLICAS ${group}`)));
    const all = answers.every((answer) => answer?.startsWith('+OK 3 usable') === true);
    return all && replicas.every((answer) => answer === '*1');
  });
  return {
    primary,
    replica,
    sentinels,
    ...{ name: group, downAfterMs },
    section: { sentinels: sentinels.map(({ port }) => `127.0.0.1:${port}`), name: group },
    failOver: async () => {
      await primary.kill();
      // A primary has three lines about its role, and a replica five.
      await until('the replica to be promoted', async () => (await replica.ask('ROLE')) === '*3');
    },
    close: async () => {
      await Promise.all([primary, replica, ...sentinels].map((each) => each.close()));
    },
  };
}
