import { describe, it } from 'vitest';
import { startWayToService, type WayToService } from '../../support/network/way-to-service.ts';
import { applyAsShown } from '../../support/night/as-shown.ts';
import {
  aDaemonNight,
  createsReach,
  nightPolicy,
  scan,
  untilEnded,
  untilIdle,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { brokenPromises, createdTwice, createsOf } from '../../support/night/judge-night.ts';
import { useRedis } from '../../support/redis/redis.ts';

const redis = useRedis();
const oneWave = (maxFailures: number | string) => [{ name: 'all', maxFailures }];

const by = { by: 'test', reason: 'a test' };

describe.concurrent('an operator with two daemons', () => {
  it('pauses: once it is acknowledged no create reaches the service, what runs ends, and a resume goes on (P4)', async ({
    expect,
    onTestFinished,
  }) => {
    let way: WayToService | undefined;
    onTestFinished(async () => way?.close());
    const night = await aDaemonNight(
      {
        redis: redis.config(),
        scenario: { fleet: { size: 25 } },
        rollout: { waves: oneWave('5%'), concurrency: 4 },
        // Creates are long on their way, so that some have left and not arrived whenever a pause comes.
        through: async (serviceUrl) => {
          way = await startWayToService(serviceUrl, { delayMs: (method) => (method === 'POST' ? 200 : 0) });
          return way.url;
        },
      },
      onTestFinished,
    );
    const [first, second] = [await night.startDaemon(), await night.startDaemon()];
    const rolloutId = await scan(first);
    for (const wanted of [4, 12]) {
      await createsReach(night, wanted);
      const paused = await second.operations.apply({ rolloutId, verb: 'pause', ...by });
      const pausedAt = night.service.clock.now();
      expect(paused).toMatchObject({ kind: 'done', status: { state: 'paused' } });
      expect(await first.operations.apply({ rolloutId, verb: 'pause', ...by })).toMatchObject({
        kind: 'unchanged',
      });
      const idle = await untilIdle(second, rolloutId);
      expect(night.record().creates.filter(({ at }) => at > pausedAt)).toEqual([]);
      expect(idle).toMatchObject({ state: 'paused', reason: 'by test: a test' });
      expect(night.record().tasksInFlight).toBe(0);
      expect(await applyAsShown(first.operations, { rolloutId, verb: 'resume', ...by })).toMatchObject({
        kind: 'done',
      });
    }
    const status = await untilEnded(first, rolloutId);
    expect(status.state).toBe('succeeded');
    expect(createdTwice(night.record())).toEqual([]);
    expect(brokenPromises(night, status, await upgradesOf(first, rolloutId))).toEqual([]);
  });

  it('aborts: nothing more starts, what runs is watched to its end, the rest is withdrawn (P4, P9)', async ({
    expect,
    onTestFinished,
  }) => {
    const night = await aDaemonNight(
      {
        redis: redis.config(),
        scenario: { fleet: { size: 20 } },
        rollout: { waves: oneWave('5%'), concurrency: 4 },
      },
      onTestFinished,
    );
    const [first, second] = [await night.startDaemon(), await night.startDaemon()];
    const rolloutId = await scan(first);
    const stratum = { subject: 'AIX / power / 19.1-1', ...by };
    expect(await first.operations.hold(stratum)).toMatchObject({ note: { kind: 'stratumEmpty' } });
    await createsReach(night, 5);
    await second.operations.apply({ rolloutId, verb: 'abort', ...by });
    const abortedAt = night.service.clock.now();
    const status = await untilEnded(first, rolloutId);
    const upgrades = await upgradesOf(first, rolloutId);
    const created = createsOf(night.record());
    expect(night.record().creates.filter(({ at }) => at > abortedAt)).toEqual([]);
    expect(status.state).toBe('aborted');
    expect(status.counts.succeeded + status.counts.withdrawn).toBe(status.planned);
    expect(status.counts.withdrawn).toBeGreaterThan(0);
    for (const {
      identity: { collectorId },
      progress: { state },
    } of upgrades) {
      expect([collectorId, state]).toEqual([
        collectorId,
        created.has(collectorId) ? 'succeeded' : 'withdrawn',
      ]);
    }
    expect(brokenPromises(night, status, upgrades)).toEqual([]);
    const left = { rolloutId, policy: nightPolicy, isEnded: true, label: stratum.subject };
    expect((await second.operations.listHolds()).strata).toMatchObject([left]);
    expect(await first.operations.release(stratum)).toMatchObject({ note: { kind: 'rolloutEnded' } });
    expect((await second.operations.listHolds()).strata).toEqual([]);
    // Only an operator starts the same build again, and it goes on where the other one stopped.
    expect(await applyAsShown(first.operations, { rolloutId, verb: 'resume', ...by })).toMatchObject({
      kind: 'refused',
    });
    const again = await first.daemon.scanNow(nightPolicy, 'schedule');
    expect(again).toMatchObject({ kind: 'nothing', reason: expect.stringContaining('was aborted') });
  });
});
