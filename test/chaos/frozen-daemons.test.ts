import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { createsOf } from '../support/daemon-night.ts';
import { makeRedisProcess, type RedisProcess, redisServerCommand } from '../support/redis-process.ts';
import { until } from '../support/until.ts';
import { aChaosNight, isShort, report } from './chaos-night.ts';
import { quietAfter, timesText } from './quiet-after.ts';

// Beyond the lease of the leader and the lock of every job.
const frozenMs = 11_000;

// Wanted are 5 s; a busy machine gets half of that on top.
const quietMaxMs = 7_500;

describe.skipIf(redisServerCommand === undefined || isShort)('daemons that are stopped for a while', () => {
  let redis: RedisProcess;

  beforeAll(async () => {
    redis = await makeRedisProcess();
    await redis.start();
  });
  afterAll(async () => {
    await redis?.close();
  });

  it('the leader, beyond its lease and its locks: another one leads, and what it does late changes nothing', async ({
    expect,
    onTestFinished,
  }) => {
    const night = await aChaosNight(
      { redis: { url: redis.url, keyPrefix: 'frozen' }, scenario: { fleet: { size: 180 } } },
      onTestFinished,
    );
    await Promise.all([night.startDaemon(), night.startDaemon()]);
    await night.createsReach(10);
    const leader = await until('a leader', () => night.daemons().find((daemon) => daemon.isLeading()));
    leader.freeze();
    const quiet = await quietAfter(night);
    await until('a new leader', () =>
      night.daemons().some((daemon) => daemon !== leader && daemon.isLeading()),
    );
    await wait(frozenMs);
    leader.thaw();
    await until('the old one to see it', () => leader.logged('leader.lost').length > 0);
    const { broken } = await night.end();
    report(`leader stopped for ${frozenMs / 1_000} s: next create after ${timesText([quiet.createMs])}`);
    expect(broken).toEqual([]);
    expect([...createsOf(night.record()).values()].every((count) => count === 1)).toBe(true);
    expect(quiet.createMs).toBeLessThan(quietMaxMs);
  });
});
