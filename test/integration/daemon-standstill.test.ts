import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { aDaemonNight, createsOf, type NightDaemon, scan } from '../support/daemon-night.ts';
import { useRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { startWayToService, type WayToService } from '../support/way-to-service.ts';

const redis = useRedis();

async function ask({ url }: NightDaemon, path: string): Promise<{ status: number; text: string }> {
  const answer = await request(`${url}${path}`);
  return { status: answer.statusCode, text: await answer.body.text() };
}

describe('a service that asks for a long pause', () => {
  it('is told of by status, readiness and metric, also by a daemon that starts in the pause', async ({
    onTestFinished,
  }) => {
    let isPausing = false;
    let way: WayToService | undefined;
    const night = await aDaemonNight(
      {
        redis: redis.config(),
        rollout: { waves: [{ name: 'all', maxFailures: '100%' }] },
        through: async (serviceUrl) => {
          way = await startWayToService(
            serviceUrl,
            () => 0,
            () => (isPausing ? { status: 429, headers: { 'retry-after': '3600' } } : undefined),
          );
          return way.url;
        },
      },
      async (work) => onTestFinished(work),
    );
    onTestFinished(async () => way?.close());
    const first = await night.startDaemon();
    const rolloutId = await scan(first);
    await until('the first creates', () => createsOf(night.record()).size > 4);
    const begunAt = Date.now();
    isPausing = true;
    await until('a 429', () => first.log.some(({ event }) => event === 'service.throttled'));
    const standstillOf = async () => (await first.operations.rolloutStatus(rolloutId))?.api?.standstill;
    await until('the pause', async () => ((await standstillOf())?.until ?? 0) > begunAt);

    const late = await night.startDaemon();
    await until('its line', () => late.log.some(({ event }) => event === 'service.paused'));
    for (const { operations } of [first, late]) {
      const status = await operations.rolloutStatus(rolloutId);
      expect(status?.state).toBe('running');
      expect(status?.api?.standstill).toMatchObject({ kind: 'rateLimited', since: null });
      expect(status?.api?.standstill?.until).toBeGreaterThan(begunAt + 3_500_000);
      expect(status?.eta?.at).toBeGreaterThan(begunAt + 3_500_000);
      expect(status?.api?.rateLimited).toBeGreaterThan(0);
      expect(status?.api?.requestsPerSecond).toBeGreaterThan(0);
    }
    for (const daemon of [first, late]) {
      const ready = await ask(daemon, '/readyz');
      expect(ready.text).toMatch(/all wait until [^ ]+Z: the service asked for a pause/);
    }
    await until('the leader to lead', () => first.log.some(({ event }) => event === 'leader.acquired'));
    const [, seconds] =
      /^upwave_api_standstill_seconds (\S+)$/m.exec((await ask(first, '/metrics')).text) ?? [];
    expect(Number(seconds)).toBeGreaterThan(3_500);
  });
});
