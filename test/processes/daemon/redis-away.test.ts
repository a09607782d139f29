import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createsReach, type NightDaemon, nightConfig } from '../../support/night/daemon-night.ts';
import { createdTwice } from '../../support/night/judge-night.ts';
import { useNights } from '../../support/night/nights.ts';
import { aDesk, type RunningTest } from '../../support/night/upwave-desk.ts';
import { daemonUrl } from '../../support/night/upwave-process.ts';
import { makeRedisProcess, redisServerCommand } from '../../support/redis/redis-process.ts';
import { until } from '../../support/until.ts';

const { aStartedNight } = useNights();

async function aRedis(test: RunningTest, ...args: readonly string[]) {
  const redis = await makeRedisProcess({ args });
  test.onTestFinished(() => redis.close());
  await redis.start();
  return { redis, config: { url: redis.url, keyPrefix: 'away' } };
}

interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<
    Record<string, { readonly ok: boolean; readonly reason: string; readonly since?: number }>
  >;
}

async function readiness(daemon: NightDaemon): Promise<{ status: number; body: Readiness }> {
  const { status, text } = await daemon.get('/readyz');
  return { status, body: JSON.parse(text) as Readiness };
}

/** These are all events about Redis, and none is an error. A failure shows what the others said. */
function expectEvents(daemon: NightDaemon, names: readonly string[]): void {
  const reported = daemon.log.filter(({ event, level }) => event.startsWith('redis.') || level === 'error');
  const found = reported.map(({ event }) => event);
  expect(found, JSON.stringify(reported)).toEqual(names);
}

// At once, each with a Redis and a service of its own: what they wait for are pauses.
describe.skipIf(redisServerCommand === undefined).concurrent('a daemon whose Redis', () => {
  it('goes away reports it in /readyz and the log, keeps running, and continues where it was (P1, P11, P12)', async (test) => {
    const password = 'a-password-of-redis';
    const user = ['--user', 'limited', 'on', `>${password}`, '~*', '&*', '+@all'];
    const { redis, config } = await aRedis(test, ...user);
    const url = config.url.replace('//', `//limited:${password}@`);
    const { night, daemon, end } = await aStartedNight(test, {
      redis: { ...config, url },
      scenario: { fleet: { size: 20 } },
    });
    expect(await readiness(daemon)).toMatchObject({ status: 200, body: { ready: true } });
    await createsReach(night, 6);
    await redis.kill();
    await until('/readyz to tell', async () => (await readiness(daemon)).status === 503);
    const reason = `no connection to ${config.url}: the connection was closed`;
    const checks = { redis: { ok: false, reason }, service: { ok: true } };
    expect((await readiness(daemon)).body).toMatchObject({ ready: false, checks });
    for (const [path, status] of [
      ['/healthz', 200],
      ['/metrics', 200],
      ['/api/v1/rollouts', 503],
    ] as const)
      expect([path, (await daemon.get(path)).status]).toEqual([path, status]);
    await until('what runs to end meanwhile', () => night.record().tasksInFlight === 0);
    const createsBefore = night.record().creates.length;
    await redis.start();
    await until('/readyz to be well again', async () => (await readiness(daemon)).status === 200);
    const { status, broken } = await end();
    expect([status.state, broken, createdTwice(night.record())]).toEqual(['succeeded', [], []]);
    expect(night.record().creates.length).toBeGreaterThan(createsBefore);
    expectEvents(daemon, ['redis.reachable', 'redis.unreachable', 'redis.reachable']);
    expect(daemon.logText()).not.toContain(password);
  });

  it('hangs is named in /readyz, with since when, although it is still connected', async (test) => {
    const { redis, config } = await aRedis(test);
    const { daemon, end } = await aStartedNight(test, { redis: config, scenario: { fleet: { size: 6 } } });
    const before = Date.now();
    expect(await redis.ask('CLIENT PAUSE 6000 ALL')).toBe('+OK');
    const { status, body } = await readiness(daemon);
    const check = { ok: false, kind: 'silent', reason: `${redis.url} gives no answer` };
    expect([status, body]).toMatchObject([
      503,
      { ready: false, checks: { redis: check, clock: { ok: true } } },
    ]);
    const since = body.checks['redis']?.since ?? 0;
    expect(since).toBeGreaterThanOrEqual(before);
    expect((await readiness(daemon)).body.checks['redis']?.since).toBe(since);
    await until('/readyz to be well again', async () => (await readiness(daemon)).status === 200);
    expect((await end()).status.state).toBe('succeeded');
  });

  it('restarts with all its data sends creates again soon, also where a second daemon works (P1, P11)', async (test) => {
    const { redis, config } = await aRedis(test);
    const { night, end } = await aStartedNight(test, {
      redis: config,
      daemons: 2,
      scenario: { fleet: { size: 40 } },
      service: { requestTimeout: '30s' },
    });
    await createsReach(night, 6);
    await redis.kill();
    await until('what runs to end meanwhile', () => night.record().tasksInFlight === 0);
    const createsBefore = night.record().creates.length;
    await redis.start();
    const startedAt = performance.now();
    await createsReach(night, createsBefore + 1);
    // A daemon connects again within 2 s. While it is unknown whether a create is missing, it would wait for 35 s.
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    const { status, broken } = await end();
    expect([status.state, broken, createdTwice(night.record())]).toEqual(['succeeded', [], []]);
  });

  it('went back to older data sends none until all from before have arrived, and says so (P1, P16)', async (test) => {
    const { redis, config } = await aRedis(test);
    const { night, daemon, rolloutId } = await aStartedNight(test, {
      redis: config,
      scenario: { fleet: { size: 40 } },
      service: { requestTimeout: '30s' },
    });
    await createsReach(night, 2);
    const [data, older] = [join(redis.folder, 'data'), join(redis.folder, 'older')];
    await redis.kill();
    await cp(data, older, { recursive: true });
    await redis.start();
    await createsReach(night, 8);
    await redis.kill();
    await until('what runs to end meanwhile', () => night.record().tasksInFlight === 0);
    await rm(data, { recursive: true });
    await cp(older, data, { recursive: true });
    const createsBefore = night.record().creates.length;
    await redis.start();
    const since = Date.now();
    const blocker = await until('status to say so', async () => {
      // Until it is connected again, it has no status.
      const status = await daemon.operations.rolloutStatus(rolloutId).catch(() => undefined);
      const { blockers = [] } = status ?? {};
      return blockers.find(({ kind, reason }) => kind === 'storeReturned' && reason.includes('lost'));
    });
    expect(blocker.reason).toMatch(
      /^after an outage of Redis no create request is sent until .* have arrived/,
    );
    expect(blocker.until).toBeGreaterThan(since + 30_000);
    expect(blocker.until).toBeLessThan(Date.now() + 35_001);
    const polls = () => Object.values(night.record().requests).reduce((sum, count) => sum + count, 0);
    const pollsBefore = polls();
    await until('running upgrades to be polled', () => polls() > pollsBefore + 3);
    expect(night.record().creates).toHaveLength(createsBefore);
  });

  it('refuses writes for lack of memory keeps running, reports why, and continues (P11)', async (test) => {
    const { redis, config } = await aRedis(test);
    const { night, daemon, end } = await aStartedNight(test, { redis: config });
    await createsReach(night, 6);

    expect(await redis.ask('CONFIG SET maxmemory 1')).toBe('+OK');
    await until('/readyz to tell', async () => (await readiness(daemon)).status === 503);
    expect((await readiness(daemon)).body).toMatchObject({ ready: false, checks: { service: { ok: true } } });
    await until('it to be tried again', () => daemon.reported('queue.failed').length > 2);
    await until('the reason', async () => {
      const { redis: check } = (await readiness(daemon)).body.checks;
      const words = "OOM command not allowed when used memory > 'maxmemory'";
      return check?.reason === `${redis.url} refuses writes: ${words}`;
    });

    expect(await redis.ask('CONFIG SET maxmemory 0')).toBe('+OK');
    await until('/readyz to be well again', async () => (await readiness(daemon)).status === 200);
    const { status, broken } = await end();
    expect([status.state, broken, createdTwice(night.record())]).toEqual(['succeeded', [], []]);
    // Said once when it began and once when it was over, whatever was refused in between.
    expectEvents(daemon, ['redis.reachable', 'redis.unwritable', 'redis.writable']);
  });
});

it('`upwave run` without a Redis says what to do, shows version and installation, and ends by itself at SIGTERM', async (test) => {
  const config = { ...nightConfig('http://127.0.0.1:9/api'), redis: { url: 'redis://127.0.0.1:1' } };
  const upwave = aDesk(test, { ...config, installation: 'our-own' }).start('run');
  await until('it to know', () => upwave.out().includes('redis.unreachable'));
  const text = await (await fetch(`${await daemonUrl(upwave)}/metrics`)).text();
  expect(text).toMatch(/^upwave_build_info\{version="\d+\.\d+\.\d+",installation="our-own"\} 1$/m);
  upwave.kill('SIGTERM');
  const { code, out } = await upwave.ended;
  expect(code).toBe(0);
  const version = expect.stringMatching(/^\d+\.\d+\.\d+$/);
  expect(JSON.parse(out.split('\n')[0] ?? '')).toMatchObject({ event: 'daemon.starting', version });
  expect(out).toContain('ECONNREFUSED 127.0.0.1:1. Start Redis, or correct the settings under `redis`');
  expect(out).toContain('daemon.stopped');
});
