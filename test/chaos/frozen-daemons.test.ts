import { setTimeout as wait } from 'node:timers/promises';
import { describe, it } from 'vitest';
import { until } from '../support/until.ts';
import { aChaosNight, isShort, report, useRedisProcess } from './chaos-night.ts';
import { quietAfter, timesText } from './quiet-after.ts';

// Beyond the lease of the leader and the lock of every job.
const frozenMs = 11_000;

// Wanted are 5 s; a busy machine gets half of that on top.
const quietMaxMs = 7_500;

describe.skipIf(isShort)('daemons that are stopped for a while', () => {
  const redis = useRedisProcess();

  it('the leader, beyond its lease and its locks: another one leads, and late writes change nothing', async ({
    expect,
    onTestFinished,
  }) => {
    const night = await aChaosNight(
      { redis: redis.config('frozen'), scenario: { fleet: { size: 180 } }, daemons: 2, creates: 10 },
      onTestFinished,
    );
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
    expect(quiet.createMs).toBeLessThan(quietMaxMs);
  });
});
