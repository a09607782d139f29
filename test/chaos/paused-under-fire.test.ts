import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { makeRedisProcess, type RedisProcess, redisServerCommand } from '../support/redis-process.ts';
import { until } from '../support/until.ts';
import { aChaosNight, type ChaosNight, isShort, report } from './chaos-night.ts';

const rounds = isShort ? 2 : 3;
const stillForMs = 2_000;

describe.skipIf(redisServerCommand === undefined)('a pause while daemons are killed', () => {
  let redis: RedisProcess;

  beforeAll(async () => {
    redis = await makeRedisProcess();
    await redis.start();
  });
  afterAll(async () => {
    await redis?.close();
  });

  it('lets no create leave once it is answered, and the rollout goes on when it is resumed (P4)', async ({
    expect,
    onTestFinished,
  }) => {
    const night = await aChaosNight(
      {
        redis: { url: redis.url, keyPrefix: 'paused' },
        scenario: { fleet: { size: isShort ? 120 : 150 } },
        rollout: { concurrency: 20 },
      },
      onTestFinished,
    );
    // This one is never killed, since it is asked.
    const asked = await night.startDaemon();
    await Promise.all([night.startDaemon(), night.startDaemon()]);
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
      // Who starts now must find the brake as well.
      await Promise.all([night.startDaemon(), killAnother(night, asked.name)]);
      await wait(stillForMs);
      late.push(night.record().creates.length - before);
      await night.startDaemon();
      await asked.api.apply({ ...order, verb: 'resume' });
    }
    const { broken } = await night.end();
    report(`pause answered after ${answeredAfterMs.join(', ')} ms while daemons were killed`);
    expect(late).toEqual(late.map(() => 0));
    expect(broken).toEqual([]);
  });
});

async function killAnother(night: ChaosNight, spared: string): Promise<void> {
  await night
    .daemons()
    .find(({ name }) => name !== spared)
    ?.kill();
}
