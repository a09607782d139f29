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
import { countStalls } from '../../support/stalls.ts';
import { until } from '../../support/until.ts';

async function series(daemon: NightDaemon, name: string): Promise<string | undefined> {
  const { text } = await daemon.get('/metrics');
  return text.split('\n').find((line) => line.startsWith(`${name} `));
}

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

// 2 s until Redis is given up, and what it takes to end what is cut then. Formerly 7 s, before anything was given up.
const goneWithinMs = 5_000;

describe
  .skipIf(redisServerCommand === undefined)
  .concurrent('a daemon whose Redis is connected, and gives no answer', () => {
    it('is gone in seconds when it is asked to stop, and nothing is lost (P1, P11)', async ({
      expect,
      onTestFinished,
    }) => {
      const redis = await aFrozenRedis(onTestFinished);
      const { daemon, night, rolloutId } = await aStartedNight(
        { redis: redis.config, scenario: { fleet: { size: 12 } } },
        onTestFinished,
      );
      await createsReach(night, 5);
      await redis.beSilent();
      await until(
        'it to lead no more',
        async () => (await series(daemon, 'upwave_leader')) === 'upwave_leader 0',
      );
      const since = performance.now();
      const stalledMs = countStalls();
      await daemon.daemon.close();
      expect(performance.now() - since - stalledMs()).toBeLessThan(goneWithinMs);
      expect(daemon.log.at(-1)).toMatchObject({ event: 'daemon.stopped', level: 'info' });
      expect(daemon.log.at(-1)?.reason).toContain('Redis is away');

      await redis.answerAgain();
      const next = await night.startDaemon();
      const status = await untilEnded(next, rolloutId);
      expect(status.state).toBe('succeeded');
      expect(brokenPromises(night, status, await upgradesOf(next, rolloutId))).toEqual([]);
    });
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
