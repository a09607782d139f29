import { request } from 'undici';
import { describe, it } from 'vitest';
import type { RedisConfig } from '../../../src/redis/connection/config.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { openTcpGate } from '../../support/network/tcp-gate.ts';
import {
  type AtEnd,
  aStartedNight,
  createsReach,
  type NightDaemon,
  nightConfig,
  untilEnded,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { brokenPromises } from '../../support/night/judge-night.ts';
import { aFolder, daemonUrl, startUpwave } from '../../support/night/upwave-process.ts';
import { makeRedisProcess, redisServerCommand } from '../../support/redis/redis-process.ts';
import { until } from '../../support/until.ts';

async function series(daemon: NightDaemon, name: string): Promise<string | undefined> {
  const { text } = await daemon.get('/metrics');
  return text.split('\n').find((line) => line.startsWith(`${name} `));
}

describe.skipIf(redisServerCommand === undefined).concurrent('a leading daemon whose Redis is away', () => {
  it('leads no more, and says so while it is away and once; it leads again when Redis is back (P11)', async ({
    expect,
    onTestFinished,
  }) => {
    const redis = await makeRedisProcess();
    await redis.start();
    onTestFinished(() => redis.close());
    const config = { url: redis.url, keyPrefix: 'away' };
    const { daemon, end } = await aStartedNight({ redis: config }, onTestFinished);
    await until('it to lead', () => daemon.told('leader.acquired').length === 1);
    expect(await series(daemon, 'upwave_leader')).toBe('upwave_leader 1');
    expect(await series(daemon, 'upwave_redis_up')).toBe('upwave_redis_up 1');

    await redis.kill();
    await until('it to know', async () => (await series(daemon, 'upwave_redis_up')) === 'upwave_redis_up 0');
    await until(
      'it to lead no more',
      async () => (await series(daemon, 'upwave_leader')) === 'upwave_leader 0',
    );
    expect(daemon.told('leader.lost')).toHaveLength(1);

    await redis.start();
    await until('it to lead again', () => daemon.told('leader.acquired').length === 2);
    // The lease has a connection of its own, and may be the first to be back.
    await until('it to know', async () => (await series(daemon, 'upwave_redis_up')) === 'upwave_redis_up 1');
    expect((await end()).broken).toEqual([]);
    expect(daemon.told('leader.lost')).toHaveLength(1);
    expect(daemon.told('redis.emptied')).toHaveLength(0);
  });

  it('comes to its end when it is asked to stop, and nothing is lost with what waits for Redis (P1, P11)', async ({
    expect,
    onTestFinished,
  }) => {
    const redis = await makeRedisProcess();
    await redis.start();
    onTestFinished(() => redis.close());
    const config = { url: redis.url, keyPrefix: 'away' };
    const { daemon, night, rolloutId } = await aStartedNight({ redis: config }, onTestFinished);
    await until('it to lead', () => daemon.told('leader.acquired').length === 1);
    await createsReach(night, 5);

    await redis.kill();
    await until(
      'a pass that waits for Redis',
      async () => (await series(daemon, 'upwave_leader')) === 'upwave_leader 0',
    );
    // Whoever asks twice gets the same end.
    await Promise.all([daemon.daemon.close(), daemon.daemon.close()]);
    expect(daemon.told('daemon.stopping')).toHaveLength(1);
    expect(daemon.log.at(-1)).toMatchObject({ event: 'daemon.stopped', level: 'info' });
    expect(daemon.log.at(-1)?.reason).toContain('Redis is away');
    expect(daemon.log.filter(({ level }) => level === 'error')).toEqual([]);

    await redis.start();
    const next = await night.startDaemon();
    const status = await untilEnded(next, rolloutId);
    expect(status.state).toBe('succeeded');
    expect(brokenPromises(night, status, await upgradesOf(next, rolloutId))).toEqual([]);
  });
});

/** A Redis that stops to answer while its connections stay. */
interface SilentRedis {
  readonly config: RedisConfig;
  readonly beSilent: () => Promise<void>;
  readonly answerAgain: () => Promise<void>;
}

async function aFrozenRedis(onTestFinished: AtEnd): Promise<SilentRedis> {
  const redis = await makeRedisProcess();
  await redis.start();
  onTestFinished(() => redis.close());
  const gate = await openTcpGate(redis.port);
  onTestFinished(() => gate.close());
  return {
    config: { url: `redis://127.0.0.1:${gate.port}`, keyPrefix: 'silent' },
    beSilent: async () => gate.cut('swallow'),
    answerAgain: async () => gate.heal('all'),
  };
}

async function aClusterThatLosesSlots(onTestFinished: AtEnd): Promise<SilentRedis> {
  const redis = await makeRedisProcess({
    args: ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'],
  });
  await redis.start();
  onTestFinished(() => redis.close());
  await redis.ask('CLUSTER ADDSLOTSRANGE 0 16383');
  const isWhole = async () => (await redis.ask('SET whole yes')) === '+OK';
  await until('all slots to be served', isWhole);
  return {
    config: { cluster: [{ host: '127.0.0.1', port: redis.port }], keyPrefix: 'silent' },
    beSilent: async () => {
      await redis.ask('CLUSTER DELSLOTS 0');
      await until('the cluster to be down', async () => !(await isWhole()));
    },
    answerAgain: async () => {
      await redis.ask('CLUSTER ADDSLOTS 0');
      await until('the cluster to be whole', isWhole);
    },
  };
}

// 2 s until Redis is given up, and what it takes to end what is cut then. Formerly 7 s, before anything was given up.
const goneWithinMs = 5_000;

describe
  .skipIf(redisServerCommand === undefined)
  .concurrent('a daemon whose Redis is connected, and gives no answer', () => {
    it.for([
      ['is frozen', aFrozenRedis],
      ['is a Cluster that is not whole', aClusterThatLosesSlots],
    ] as const)(
      'is gone in seconds when it is asked to stop, and nothing is lost: it %s (P1, P11)',
      async ([, make], { expect, onTestFinished }) => {
        const redis = await make(onTestFinished);
        const { daemon, night, rolloutId } = await aStartedNight({ redis: redis.config }, onTestFinished);
        await createsReach(night, 5);
        await redis.beSilent();
        await until(
          'it to lead no more',
          async () => (await series(daemon, 'upwave_leader')) === 'upwave_leader 0',
        );
        const since = performance.now();
        await daemon.daemon.close();
        expect(performance.now() - since).toBeLessThan(goneWithinMs);
        expect(daemon.log.at(-1)).toMatchObject({ event: 'daemon.stopped', level: 'info' });
        expect(daemon.log.at(-1)?.reason).toContain('Redis is away');

        await redis.answerAgain();
        const next = await night.startDaemon();
        const status = await untilEnded(next, rolloutId);
        expect(status.state).toBe('succeeded');
        expect(brokenPromises(night, status, await upgradesOf(next, rolloutId))).toEqual([]);
      },
    );
  });

describe('`upwave run` without a Redis', () => {
  it('shows its version and its installation, and ends by itself at SIGTERM', async ({
    expect,
    onTestFinished,
  }) => {
    const port = await findFreePort();
    const folder = aFolder(onTestFinished);
    const file = folder.write('upwave.yaml', {
      ...nightConfig('http://127.0.0.1:9/api'),
      redis: { url: `redis://127.0.0.1:${port}` },
      installation: 'our-own',
    });
    const upwave = startUpwave({ args: ['run', '--config', file] });
    onTestFinished(() => upwave.kill('SIGKILL'));
    await until('it to know', () => upwave.out().includes('redis.unreachable'));
    const { body } = await request(`${await daemonUrl(upwave)}/metrics`);
    const text = await body.text();
    expect(text).toMatch(/^upwave_build_info\{version="\d+\.\d+\.\d+",installation="our-own"\} 1$/m);
    upwave.kill('SIGTERM');
    const { code, out } = await upwave.ended;
    expect(code).toBe(0);
    const [first = ''] = out.split('\n');
    expect(JSON.parse(first)).toMatchObject({
      event: 'daemon.starting',
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    });
    expect(out).toContain('daemon.stopped');
  });
});
