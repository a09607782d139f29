import { describe, it } from 'vitest';
import { applyAsShown } from '../support/night/as-shown.ts';
import { activeOf } from '../support/night/daemon-night.ts';
import { until } from '../support/until.ts';
import type { ChaosDaemon } from './chaos-daemon.ts';
import { aChaosNight, type ChaosNight, isShort, report, useRedisProcess } from './chaos-night.ts';

const rounds = isShort ? 2 : 3;

describe('a pause while daemons are killed', () => {
  const redis = useRedisProcess();

  it('lets no create be sent once the pause is answered, and the rollout continues after a resume (P4)', async ({
    expect,
    onTestFinished,
  }) => {
    const night = await aChaosNight(
      {
        redis: redis.config('paused'),
        scenario: { fleet: { size: isShort ? 120 : 150 } },
        rollout: { concurrency: 20 },
        daemons: 2,
      },
      onTestFinished,
    );
    // This daemon is never killed, because it answers the operator.
    const asked = await night.startDaemon();
    const answeredAfterMs: number[] = [];
    const late: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await night.createsReach(night.record().creates.length + 8);
      const rolloutId = (await until('the rollout', () => night.status())).id;
      const order = { rolloutId, by: 'test', reason: 'chaos' };
      const sentAt = performance.now();
      const pausing = asked.api.apply({ ...order, verb: 'pause' });
      await killAnother(night, asked.name);
      const paused = await pausing;
      const before = night.record().creates.length;
      answeredAfterMs.push(Math.round(performance.now() - sentAt));
      expect(paused.state).toBe('paused');
      // A daemon that starts now must respect the pause as well.
      const [fresh] = await Promise.all([night.startDaemon(), killAnother(night, asked.name)]);
      await untilIdle(fresh, rolloutId);
      late.push(night.record().creates.length - before);
      await night.startDaemon();
      await applyAsShown(asked.api, { ...order, verb: 'resume' });
    }
    const { broken } = await night.end();
    report(`pause answered after ${answeredAfterMs.join(', ')} ms while daemons were killed`);
    expect(late).toEqual(late.map(() => 0));
    expect(broken).toEqual([]);
  });
});

/** Waits until all running upgrades have ended, including those of a killed daemon, whose jobs are retried. */
async function untilIdle({ api }: ChaosDaemon, rolloutId: string): Promise<void> {
  await until('running upgrades to end', async () => {
    // Refused until the daemon, just started, has its connection to Redis.
    const status = await api.rolloutStatus(rolloutId).catch(() => undefined);
    return status !== undefined && activeOf(status) === 0;
  });
}

async function killAnother(night: ChaosNight, spared: string): Promise<void> {
  await night
    .daemons()
    .find(({ name }) => name !== spared)
    ?.kill();
}
