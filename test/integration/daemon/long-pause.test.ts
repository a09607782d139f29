import { describe, expect, it } from 'vitest';
import { startWayToService, type WayToService } from '../../support/network/way-to-service.ts';
import { type AtEnd, aDaemonNight, scan } from '../../support/night/daemon-night.ts';
import { createsOf } from '../../support/night/judge-night.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();

/** A rollout on its way, of which the service answers the first creates, and then asks for a pause of an hour. */
async function aPausedNight(atEnd: AtEnd) {
  let isPausing = false;
  let way: WayToService | undefined;
  const night = await aDaemonNight(
    {
      redis: redis.config(),
      rollout: { waves: [{ name: 'all', maxFailures: '100%' }] },
      through: async (serviceUrl) => {
        const refuse = () => (isPausing ? { status: 429, headers: { 'retry-after': '3600' } } : undefined);
        way = await startWayToService(serviceUrl, { answerInstead: refuse });
        return way.url;
      },
    },
    atEnd,
  );
  atEnd(async () => way?.close());
  const daemon = await night.startDaemon();
  const rolloutId = await scan(daemon);
  await until('the first creates', () => createsOf(night.record()).size > 4);
  const begunAt = Date.now();
  isPausing = true;
  await until('a 429', () => daemon.told('service.throttled').length > 0);
  await until('the pause', async () => {
    const status = await daemon.operations.rolloutStatus(rolloutId);
    return (status?.api?.standstill?.until ?? 0) > begunAt;
  });
  return { night, daemon, rolloutId, begunAt };
}

describe('a service that asks for a long pause', () => {
  it('is told of by status, readiness and metric, also by a daemon that starts in the pause', async ({
    onTestFinished,
  }) => {
    const { night, daemon: first, rolloutId, begunAt } = await aPausedNight(onTestFinished);
    const late = await night.startDaemon();
    await until('its line', () => late.told('service.paused').length > 0);
    for (const { operations } of [first, late]) {
      const status = await operations.rolloutStatus(rolloutId);
      expect(status?.state).toBe('running');
      expect(status?.api?.standstill).toMatchObject({ kind: 'rateLimited', since: null });
      expect(status?.api?.standstill?.until).toBeGreaterThan(begunAt + 3_500_000);
      expect(status?.eta).toMatchObject({ kind: 'at' });
      expect(status?.eta).toHaveProperty(
        'at',
        expect.toSatisfy((at: number) => at > begunAt + 3_500_000),
      );
      expect(status?.api?.rateLimited).toBeGreaterThan(0);
      expect(status?.api?.requestsPerSecond).toBeGreaterThan(0);
    }
    for (const daemon of [first, late]) {
      const ready = await daemon.get('/readyz');
      expect(ready.text).toMatch(/all wait until [^ ]+Z: the service asked for a pause/);
    }
    await until('the leader to lead', () => first.told('leader.acquired').length > 0);
    const [, seconds] = /^upwave_api_pause_seconds (\S+)$/m.exec((await first.get('/metrics')).text) ?? [];
    expect(Number(seconds)).toBeGreaterThan(3_500);
  });

  it('is not in the way of who holds, releases or asks about a planned collector (P4)', async ({
    onTestFinished,
  }) => {
    const { daemon, rolloutId } = await aPausedNight(onTestFinished);
    const { operations } = daemon;
    const [planned, next] = await operations
      .listUpgrades(rolloutId, { offset: 0, limit: 2, state: 'pending' })
      .then((upgrades = []) => upgrades);
    const who = { by: 'alice', reason: 'its disk is full' };
    const name = planned?.identity.collectorName ?? '';
    expect(await operations.hold({ subject: name, ...who })).toMatchObject({
      kind: 'done',
      subject: { collectorId: planned?.identity.collectorId, name },
    });
    expect(
      await operations.release({ subject: String(planned?.identity.collectorId), ...who }),
    ).toMatchObject({
      kind: 'done',
    });
    expect(await operations.explain(next?.identity.collectorName ?? '')).toMatchObject({
      kind: 'explained',
      collectorId: next?.identity.collectorId,
      explanations: [{ rollout: rolloutId, state: 'pending' }],
    });
    const unknown = { kind: 'unavailable', reason: expect.stringContaining('asked for a pause') };
    expect(await operations.hold({ subject: 'no-such-name', ...who })).toMatchObject(unknown);
    expect(await operations.explain('no-such-name')).toMatchObject(unknown);
  });
});
