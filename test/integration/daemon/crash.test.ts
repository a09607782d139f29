import { describe, it } from 'vitest';
import {
  activeOf,
  aDaemonNight,
  createsReach,
  nightConfig,
  scan,
  statusOf,
  untilEnded,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { brokenPromises, createdTwice } from '../../support/night/judge-night.ts';
import { aFolder, daemonUrl, startUpwave, type UpwaveProcess } from '../../support/night/upwave-process.ts';
import { emptyRedis } from '../../support/redis/empty-redis.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();
const rollout = { waves: [{ name: 'all', maxFailures: '5%' }] };
const scenario = { fleet: { size: 60 } };

describe.concurrent('a daemon that stops in the middle (P1, P11)', () => {
  it('is asked to close: the next one goes on where it stood, with one create for each collector', async ({
    expect,
    onTestFinished,
  }) => {
    const night = await aDaemonNight({ redis: redis.config(), scenario, rollout }, onTestFinished);
    const first = await night.startDaemon();
    const rolloutId = await scan(first);
    await createsReach(night, 10);
    await first.close();
    for (const count of [20, 30]) {
      const daemon = await night.startDaemon();
      await createsReach(night, count);
      expect(activeOf(await statusOf(daemon, rolloutId))).toBeGreaterThan(0);
      await daemon.close();
    }
    const last = await night.startDaemon();
    const status = await untilEnded(last, rolloutId);
    expect(status.state).toBe('succeeded');
    expect(createdTwice(night.record())).toEqual([]);
    expect(brokenPromises(night, status, await upgradesOf(last, rolloutId))).toEqual([]);
  });

  it('closes with what waits for its place in the budget, and sends nothing more', async ({
    expect,
    onTestFinished,
  }) => {
    const night = await aDaemonNight({ redis: redis.config(), scenario, rollout }, onTestFinished);
    const daemon = await night.startDaemon();
    await scan(daemon);
    await createsReach(night, 3);
    await daemon.close();
    const { creates, requests } = night.record();
    await until('the end of what runs', () => night.record().tasksInFlight === 0);
    expect(night.record().creates.length).toBe(creates.length);
    expect(night.record().requests).toEqual(requests);
    expect(daemon.log.at(-1)?.event).toBe('daemon.stopped');
    expect(daemon.log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('is killed, again and again: no collector gets two tasks, and the rollout ends well', async ({
    expect,
    onTestFinished,
  }) => {
    const config = redis.config();
    const night = await aDaemonNight({ redis: config, scenario, rollout }, onTestFinished);
    const folder = aFolder(onTestFinished);
    const { url, keyPrefix } = config;
    const file = folder.write('upwave.yaml', {
      // A create that was cut off is settled when its answer can't come any more.
      ...nightConfig(night.service.baseUrl, { rollout, service: { requestTimeout: '500ms' } }),
      redis: { url, keyPrefix },
    });
    const daemons: UpwaveProcess[] = [];
    onTestFinished(() => {
      for (const daemon of daemons) daemon.kill('SIGKILL');
    });
    const start = async () => {
      const daemon = startUpwave({ args: ['run', '--config', file] });
      daemons.push(daemon);
      await daemonUrl(daemon);
      return daemon;
    };
    for (const count of [8, 25]) {
      const daemon = await start();
      // It is back at work when creates come again.
      await createsReach(night, count);
      daemon.kill('SIGKILL');
      expect(await daemon.ended).toMatchObject({ code: null, signal: 'SIGKILL' });
    }
    await start();
    const reader = await night.startDaemon();
    const rolloutId = await until('the rollout', async () => (await reader.operations.listRollouts())[0]?.id);
    const status = await untilEnded(reader, rolloutId);
    const upgrades = await upgradesOf(reader, rolloutId);
    expect(status.state).toBe('succeeded');
    expect(status.counts.succeeded).toBe(status.planned);
    expect(createdTwice(night.record())).toEqual([]);
    expect(brokenPromises(night, status, upgrades)).toEqual([]);
  });

  it('loses everything in Redis: the next look finds what is left to do, and nothing is upgraded twice', async ({
    expect,
    onTestFinished,
  }) => {
    const config = redis.config();
    // Collectors are back at once: one that is silent between its task's end and its return looks as if it had never
    // been upgraded, and without our records nobody can know better.
    const restart = { restartMin: '0s', restartMax: '0s' };
    // Four seconds of ours: a pause may take one, and on a slow machine more, and some have to run beyond it.
    const durations = { ...restart, median: '20m', p95: '21m', min: '20m', max: '22m' };
    const night = await aDaemonNight(
      { redis: config, scenario: { ...scenario, durations }, rollout: { ...rollout, concurrency: 25 } },
      onTestFinished,
    );
    const [first, second] = [await night.startDaemon(), await night.startDaemon()];
    const lostId = await scan(first);
    await createsReach(night, 15);
    // With a pause acknowledged no create is on its way; one that arrived after the new look would be as good as done
    // before its turn comes, at this speed.
    await first.operations.apply({ rolloutId: lostId, verb: 'pause', by: 'test', reason: '' });
    expect(night.record().tasksInFlight).toBeGreaterThan(0);
    await emptyRedis(redis.connect().commands, config.keyPrefix);
    expect(await second.operations.listRollouts()).toEqual([]);
    const before = night.record();
    // What runs is in an upgrade at the service, so it is in no plan.
    const rolloutId = await scan(second);
    const status = await untilEnded(second, rolloutId);
    expect(status.state).toBe('succeeded');
    const record = night.record();
    expect(record.creates.length).toBe(before.creates.length + status.planned);
    expect(createdTwice(record)).toEqual([]);
    expect(record.needlessCreates).toBe(0);
  });
});
