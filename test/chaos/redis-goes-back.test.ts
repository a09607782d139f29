import { describe, it } from 'vitest';
import { aChaosNight, isShort, report, useRedisProcess } from './chaos-night.ts';
import { goBack, keepAside } from './redis-disk.ts';

describe.skipIf(isShort)('a Redis that goes back in time', () => {
  const block = useRedisProcess();

  it('shows upgrades as they were before their create: each is polled, and none gets a second task (P1)', async ({
    expect,
    onTestFinished,
  }) => {
    const redis = block.process();
    const night = await aChaosNight(
      {
        redis: block.config('back'),
        scenario: { fleet: { size: 150 } },
        daemons: 2,
        creates: 20,
      },
      onTestFinished,
    );
    await keepAside(redis);
    const kept = night.record().creates.length;
    await night.createsReach(kept + 25);
    await redis.kill();
    const lost = night.record().creates.length - kept;
    await goBack(redis);
    await redis.start();
    const { status } = await night.end();
    const { needlessCreates, refusedCreates, creates } = night.record();
    const second = creates.length - new Set(creates.map(({ collectorId }) => collectorId)).size;
    report(
      `Redis went back by ${lost} creates: ${second} second tasks, refused ${JSON.stringify(refusedCreates)}`,
    );
    expect(lost).toBeGreaterThan(10);
    expect([needlessCreates, second]).toEqual([0, 0]);
    expect(status.state).toBe('succeeded');
  });
});
