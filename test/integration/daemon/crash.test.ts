import { describe, it } from 'vitest';
import {
  aDaemonNight,
  createsReach,
  nightConfig,
  scan,
  untilEnded,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { brokenPromises, createdTwice } from '../../support/night/judge-night.ts';
import { aFolder, daemonUrl, startUpwave, type UpwaveProcess } from '../../support/night/upwave-process.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();
const rollout = { waves: [{ name: 'all', maxFailures: '5%' }] };
const scenario = { fleet: { size: 25 } };

describe.concurrent('a daemon that stops in the middle (P1, P11)', () => {
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
    for (const count of [4, 10]) {
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
});
