import { describe, it } from 'vitest';
import { applyAsShown } from '../../support/night/as-shown.ts';
import {
  aDaemonNight,
  aStartedNight,
  scan,
  statusOf,
  untilEnded,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { brokenPromises, createdTwice } from '../../support/night/judge-night.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();
const oneWave = [{ name: 'all', maxFailures: '100%' }];
// A create without an answer is settled when its answer can't come any more, so a short time-out makes a short test.
const impatient = { requestTimeout: '500ms' };

describe.concurrent('a service that fails', () => {
  it('loses answers to creates after the work was done: settled by looking, no second task (P1)', async ({
    expect,
    onTestFinished,
  }) => {
    const { night, end } = await aStartedNight(
      {
        redis: redis.config(),
        daemons: 2,
        scenario: {
          httpFaults: [
            { operations: ['createUpgradeTask'], share: 0.3, fault: 'answerLost' },
            { operations: ['createUpgradeTask'], share: 0.2, fault: '500AfterWork' },
            { operations: ['createUpgradeTask'], share: 0.2, fault: 'cutOffMidBody' },
          ],
        },
        rollout: { waves: oneWave },
        service: impatient,
      },
      onTestFinished,
    );
    const { status, broken } = await end();
    const { faults } = night.record();
    expect(faults['answerLost']).toBeGreaterThan(2);
    expect(faults['500AfterWork']).toBeGreaterThan(2);
    expect(faults['cutOffMidBody']).toBeGreaterThan(2);
    expect(status.state).toBe('succeeded');
    expect(createdTwice(night.record())).toEqual([]);
    expect(broken).toEqual([]);
  });

  it('drops creates before the work: each is sent again after a look, and spends no attempt', async ({
    expect,
    onTestFinished,
  }) => {
    const { night, end } = await aStartedNight(
      {
        redis: redis.config(),
        scenario: {
          fleet: { size: 20 },
          httpFaults: [
            { operations: ['createUpgradeTask'], share: 0.15, fault: 'cutOff' },
            { operations: ['createUpgradeTask'], share: 0.15, fault: '502html' },
          ],
        },
        rollout: { waves: oneWave, concurrency: 20, retry: { maxAttempts: 1 } },
        service: impatient,
      },
      onTestFinished,
    );
    const { status, upgrades, broken } = await end();
    expect(night.record().faults['cutOff']).toBeGreaterThan(0);
    expect(status.state).toBe('succeeded');
    expect(upgrades.some(({ tally: { createsInDoubt } }) => createsInDoubt > 0)).toBe(true);
    // One whose answer came too late, and was found by looking, has none to his name.
    expect(upgrades.filter(({ tally: { attempts } }) => attempts > 1)).toEqual([]);
    expect(broken).toEqual([]);
  });

  it('makes every kind of noise at once: the rollout ends by itself, and well (P8, P13)', async ({
    expect,
    onTestFinished,
  }) => {
    const { night, daemon, end } = await aStartedNight(
      {
        redis: redis.config(),
        daemons: 2,
        scenario: {
          fleet: { size: 50 },
          failures: [
            { match: { share: 0.1 }, attempts: [1], outcome: 'failed', message: 'network is unreachable' },
          ],
          httpFaults: [
            { operations: ['createUpgradeTask'], share: 0.05, fault: 'answerLost' },
            { share: 0.03, fault: '502html' },
            { share: 0.03, fault: '500' },
            { share: 0.04, fault: 'brokenJson' },
            { share: 0.04, fault: 'cutOff' },
            { share: 0.02, fault: 'cutOffMidBody' },
            { share: 0.02, fault: 'slow', delay: '1m' },
            { share: 0.008, fault: '429' },
            { share: 1, fault: '503', from: '10m', until: '15m' },
          ],
        },
        rollout: { waves: oneWave, concurrency: 12 },
        service: impatient,
      },
      onTestFinished,
    );
    const { status, broken } = await end();
    const faults = Object.keys(night.record().faults);
    // Which of the nine strike is left to chance, and whether anyone is up to meet the outage to the machine.
    expect(faults.length).toBeGreaterThan(5);
    expect(status.counts.succeeded).toBe(status.planned);
    expect(broken).toEqual([]);
    expect(daemon.told('step.failed')).toEqual([]);
  });
});

describe.concurrent('collectors that do not do as they are told', () => {
  it('takes a task that failed for a success when the collector shows the build (P10)', async ({
    expect,
    onTestFinished,
  }) => {
    const { night, end } = await aStartedNight(
      {
        redis: redis.config(),
        scenario: {
          fleet: { size: 20 },
          failures: [{ match: { share: 0.3 }, outcome: 'lateSuccess' }],
          limits: { taskTimeout: '5m' },
        },
        rollout: { waves: oneWave, retry: { backoff: { initial: '1s', max: '1s' } } },
      },
      onTestFinished,
    );
    const { status, upgrades, broken } = await end();
    const late = upgrades.filter(
      (upgrade) => upgrade.progress.state === 'succeeded' && upgrade.progress.reason.startsWith('came late'),
    );
    expect(late.length).toBeGreaterThan(0);
    expect(status.state).toBe('succeeded');
    expect(createdTwice(night.record())).toEqual([]);
    expect(broken).toEqual([]);
  });

  it('waits for one that is offline, and upgrades it when it is back', async ({ expect, onTestFinished }) => {
    const night = await aDaemonNight(
      {
        redis: redis.config(),
        scenario: { fleet: { size: 20 } },
        rollout: { waves: oneWave, concurrency: 1 },
      },
      onTestFinished,
    );
    const { world } = night.service;
    const daemon = await night.startDaemon();
    const rolloutId = await scan(daemon);
    const verb = (name: 'pause' | 'resume') =>
      applyAsShown(daemon.operations, { rolloutId, verb: name, by: 'test', reason: '' });
    await verb('pause');
    const last = (await upgradesOf(daemon, rolloutId)).findLast(
      ({ progress: { state } }) => state === 'pending',
    );
    const id = last?.identity.collectorId ?? 0;
    world.kill(id);
    // The service calls it alive until half an hour after its last heartbeat.
    const target = (await statusOf(daemon, rolloutId)).targetBuild;
    await until('its death to be noticed', () =>
      world.upgradableTo(target).every(({ facts }) => facts.id !== id),
    );
    await verb('resume');
    const waiting = await until('the others to end', async () => {
      const status = await statusOf(daemon, rolloutId);
      return status.counts.succeeded === status.planned - 1 && status.blockers.length > 0 && status;
    });
    expect(waiting).toMatchObject({ state: 'running', endedAt: null });
    expect(waiting.counts.deferred).toBe(1);
    expect(waiting.blockers).toEqual([
      { kind: 'deferred', reason: expect.any(String), until: expect.any(Number) },
    ]);
    world.revive(id);
    const status = await untilEnded(daemon, rolloutId);
    expect(status.state).toBe('succeeded');
    expect(brokenPromises(night, status, await upgradesOf(daemon, rolloutId))).toEqual([]);
  });

  it('gives up on one that stays offline, without calling it a failure', async ({
    expect,
    onTestFinished,
  }) => {
    const { night, daemon, rolloutId, end } = await aStartedNight(
      {
        redis: redis.config(),
        scenario: {
          fleet: { size: 15 },
          failures: [{ match: { count: 1 }, outcome: 'createCode', code: 'collector.not.alive' }],
        },
        rollout: {
          waves: [{ name: 'all', maxFailures: 0 }],
          defer: { upTo: '1s' },
          select: { exclude: [] },
        },
      },
      onTestFinished,
    );
    // It says that it is alive, and refuses all the same: looked at, tried again, deferred again.
    const id = await until('the deferred one', async () => {
      const upgrades = await upgradesOf(daemon, rolloutId);
      return upgrades.find(({ progress: { state } }) => state === 'deferred')?.identity.collectorId;
    });
    night.service.world.remove(id);
    const { status, broken } = await end();
    expect(status.state).toBe('succeeded');
    expect(status.counts).toMatchObject({ withdrawn: 1, succeeded: status.planned - 1 });
    expect(broken).toEqual([]);
  });
});
