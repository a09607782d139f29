import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { createsOf } from '../support/daemon-night.ts';
import { makeRedisProcess, type RedisProcess, redisServerCommand } from '../support/redis-process.ts';
import { until } from '../support/until.ts';
import { aChaosNight, isShort, report } from './chaos-night.ts';
import { quietAfter, timesText } from './quiet-after.ts';

const group = 'upwave';
const quorum = 2;
const downAfterMs = 1_000;
const leavingMs = 200;

describe.skipIf(redisServerCommand === undefined || isShort)('Redis with three sentinels', () => {
  let master: RedisProcess;
  let replica: RedisProcess;
  let sentinels: readonly RedisProcess[] = [];

  beforeAll(async () => {
    master = await makeRedisProcess();
    await master.start();
    replica = await makeRedisProcess({ args: ['--replicaof', '127.0.0.1', String(master.port)] });
    await replica.start();
    const sentinel = [
      `sentinel monitor ${group} 127.0.0.1 ${master.port} ${quorum}`,
      `sentinel down-after-milliseconds ${group} ${downAfterMs}`,
      `sentinel failover-timeout ${group} 10000`,
      '',
    ].join('\n');
    sentinels = await Promise.all([1, 2, 3].map(() => makeRedisProcess({ sentinel })));
    await Promise.all(sentinels.map((each) => each.start()));
    await until('the sentinels to know each other and the replica', async () => {
      const answers = await Promise.all(sentinels.map((each) => each.ask(`SENTINEL CKQUORUM ${group}`)));
      const replicas = await Promise.all(sentinels.map((each) => each.ask(`SENTINEL REPLICAS ${group}`)));
      const all = answers.every((answer) => answer?.startsWith('+OK 3 usable') === true);
      return all && replicas.every((answer) => answer === '*1');
    });
  });
  afterAll(async () => {
    await Promise.all([master, replica, ...sentinels].map((each) => each?.close()));
  });

  it('loses its master: the replica takes over, the rollout goes on, and nothing is done twice (P1, P11)', async ({
    expect,
    onTestFinished,
  }) => {
    const redis = {
      sentinels: sentinels.map(({ port }) => ({ host: '127.0.0.1', port })),
      name: group,
      keyPrefix: 'sentinel',
    };
    const night = await aChaosNight({ redis, scenario: { fleet: { size: 130 } } }, onTestFinished);
    await Promise.all([night.startDaemon(), night.startDaemon()]);
    await night.createsReach(30);
    await master.kill();
    // A create whose intent was stored leaves all the same.
    await wait(leavingMs);
    const { createMs } = await quietAfter(night);
    // What was the master follows now.
    await master.start();
    const { broken } = await night.end();
    report(
      `Sentinel fail-over (down after ${downAfterMs} ms): next create ${timesText([createMs])} after its last creates`,
    );
    expect(broken).toEqual([]);
    expect([...createsOf(night.record()).values()].every((count) => count === 1)).toBe(true);
    expect(createMs).not.toBeNull();
  });
});
