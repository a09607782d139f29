import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { describe, it } from 'vitest';
import { startNativeServer } from '../../../src/redis/embedded/native-server.ts';
import { findOnPath } from '../../../src/redis/embedded/start-embedded-redis.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import {
  aDaemonNight,
  type NightDaemon,
  nightPolicy,
  scan,
  untilEnded,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { brokenPromises, createdTwice } from '../../support/night/judge-night.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();
const promtool = await findOnPath('promtool');
const redisServer = await findOnPath('redis-server');

/** The values of the series with this name, by their labels as they are written. */
function series(exposition: string, name: string): Readonly<Record<string, number>> {
  const pattern = new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm');
  return Object.fromEntries(
    [...exposition.matchAll(pattern)].map(([, labels = '', value]) => [labels, Number(value)]),
  );
}

async function metricsOf(daemon: NightDaemon): Promise<string> {
  return (await daemon.get('/metrics')).text;
}

function checkMetrics(
  command: string,
  exposition: string,
): Promise<{ readonly code: number | null; readonly said: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, ['check', 'metrics'], { stdio: ['pipe', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (piece: string) => {
        said += piece;
      });
    }
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, said }));
    child.stdin.end(exposition);
  });
}

describe.concurrent('/metrics of a running daemon', () => {
  it('shows the rollout with right values, the shared state from the leader alone', async ({
    expect,
    onTestFinished,
    annotate,
  }) => {
    const night = await aDaemonNight(
      {
        redis: redis.config(),
        scenario: {
          fleet: { size: 20 },
          failures: [{ match: { count: 1 }, outcome: 'failed', message: 'permission denied' }],
        },
        rollout: { select: { exclude: [] } },
      },
      onTestFinished,
    );
    const daemons = [await night.startDaemon(), await night.startDaemon()] as const;
    const rolloutId = await scan(daemons[0]);
    const policy = `policy="${nightPolicy}"`;
    const during = await until('a task to be shown', async () => {
      const texts = await Promise.all(daemons.map(metricsOf));
      return texts.some((text) => (series(text, 'upwave_in_flight')[policy] ?? 0) > 0) && texts;
    });
    const active = during.find((text) => policy in series(text, 'upwave_in_flight')) ?? '';
    expect(series(active, 'upwave_concurrency_limit')).toEqual({ [policy]: 8 });
    const planned = Object.values(series(active, 'upwave_upgrades')).reduce((sum, count) => sum + count, 0);
    expect(Object.keys(series(active, 'upwave_gate_failures_allowed'))).toHaveLength(3);
    const status = await untilEnded(daemons[0], rolloutId);
    expect(planned).toBe(status.planned);
    const isLeading = (exposition: string) => series(exposition, 'upwave_leader')[''] === 1;
    const ended = `${policy},state="finishedWithFailures"`;
    const after = await until('the one that leads to show the end', async () => {
      const texts = await Promise.all(daemons.map(metricsOf));
      const leaders = texts.filter(isLeading);
      return leaders.length === 1 && series(leaders[0] ?? '', 'upwave_rollout_state')[ended] === 1 && texts;
    });
    const [leader = ''] = after.filter(isLeading);
    const follower = after.find((exposition) => !isLeading(exposition)) ?? '';
    for (const name of ['upgrades', 'in_flight', 'rollout_state', 'gate_failures', 'queue_jobs']) {
      expect(series(follower, `upwave_${name}`)).toEqual({});
    }
    const states = Object.entries(series(leader, 'upwave_rollout_state')).filter(([, value]) => value === 1);
    expect(states).toEqual([[ended, 1]]);
    // An ended rollout shows its end alone.
    for (const name of ['upgrades', 'in_flight', 'gate_failures', 'window_open']) {
      expect(series(leader, `upwave_${name}`)).toEqual({});
    }
    // What each daemon counts for itself adds up over both.
    const both = (name: string, labels: string) =>
      after.reduce((sum, text) => sum + (series(text, name)[labels] ?? 0), 0);
    expect(both('upwave_upgrade_outcomes_total', `${policy},outcome="succeeded"`)).toBe(status.planned - 1);
    expect(both('upwave_upgrade_outcomes_total', `${policy},outcome="failed"`)).toBe(1);
    expect(both('upwave_upgrade_attempts_total', `${policy},class="permanent"`)).toBe(1);
    expect(both('upwave_upgrade_duration_seconds_count', policy)).toBe(status.planned);
    expect(both('upwave_outcome_seen_delay_seconds_count', '')).toBe(status.planned);
    const { requests, creates } = night.record();
    expect(both('upwave_api_requests_total', 'operation="createUpgradeTask",status="202"')).toBe(
      creates.length,
    );
    const answers = Object.values(requests).reduce((sum, count) => sum + count, 0);
    const counted = after.flatMap((text) => Object.values(series(text, 'upwave_api_requests_total')));
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(answers);
    expect(both('upwave_api_throttled_total', 'reason="429"')).toBe(0);
    // No label bears a collector's or a rollout's id.
    for (const text of after) {
      expect(text).not.toContain(rolloutId);
      expect(text).not.toMatch(/\b1000000\d\d\b/);
    }
    if (promtool === undefined) {
      await annotate('promtool is not on the PATH: its check is left out', 'notice');
      return;
    }
    for (const text of [...during, ...after]) {
      expect(await checkMetrics(promtool, text)).toEqual({ code: 0, said: '' });
    }
  });
});

describe.concurrent('a schedule with two daemons', () => {
  it('runs each tick once', async ({ expect, onTestFinished }) => {
    const config = redis.config();
    const night = await aDaemonNight(
      {
        redis: config,
        scenario: { fleet: { size: 0 } },
        rollout: { schedule: '* * * * * *' },
        followsSchedule: true,
      },
      onTestFinished,
    );
    const daemons = [await night.startDaemon(), await night.startDaemon()] as const;
    const scans = () =>
      daemons.flatMap(({ log }) => log.filter(({ event }) => event.startsWith('scan.'))).length;
    await until('a few ticks', () => scans() >= 6);
    for (const daemon of daemons) await daemon.close();
    const { commands } = redis.connect();
    const ran = await commands.zrangebyscore(
      `${config.keyPrefix}:{queue:bull}:scans:completed`,
      '-inf',
      '+inf',
    );
    // The name of a tick is the policy, as its config was, and its second: none was run twice, by whomever.
    const tick = new RegExp(`^${nightPolicy}\\.[0-9a-f]{8}\\.schedule\\.\\d{4}-\\d{2}-\\d{2}T\\d{6}$`);
    const ticks = ran.filter((id) => tick.test(id));
    expect(ticks.length).toBeGreaterThanOrEqual(4);
    expect(scans()).toBe(ran.length);
    // At most the two of the start beside them.
    expect(ran.length - ticks.length).toBeLessThanOrEqual(2);
    expect(daemons.flatMap(({ log }) => log.filter(({ level }) => level === 'error'))).toEqual([]);
  });
});

describe.concurrent('Redis goes away and comes back', () => {
  it.skipIf(redisServer === undefined)(
    'says so in /readyz and the log, keeps the process, and goes on where it stood (P1, P11)',
    async ({ expect, onTestFinished }) => {
      const dataDir = await mkdtemp(join(tmpdir(), 'upwave-redis-'));
      const port = await findFreePort();
      const password = 'a-password-of-redis';
      const startRedis = () => startNativeServer({ command: redisServer ?? '', port, password, dataDir });
      let server = await startRedis();
      onTestFinished(async () => {
        await server.stop();
        await rm(dataDir, { recursive: true, force: true });
      });
      const night = await aDaemonNight(
        {
          redis: { url: `redis://:${password}@127.0.0.1:${port}`, keyPrefix: 'away' },
          scenario: { fleet: { size: 20 } },
        },
        onTestFinished,
      );
      const daemon = await night.startDaemon();
      const readiness = async () => {
        const answer = await request(`${daemon.url}/readyz`);
        return { status: answer.statusCode, body: await answer.body.json() };
      };
      expect(await readiness()).toMatchObject({ status: 200, body: { ready: true } });
      const rolloutId = await scan(daemon);
      await until('a few creates', () => night.record().creates.length >= 6);
      await server.stop();
      const away = await until('/readyz to tell', async () => {
        const seen = await readiness();
        return seen.status === 503 && seen;
      });
      const place = `redis://127.0.0.1:${port}`;
      expect(away.body).toMatchObject({
        ready: false,
        checks: {
          redis: { ok: false, reason: `no connection to ${place}: the connection was closed` },
          service: { ok: true },
        },
      });
      expect((await daemon.get('/healthz')).status).toBe(200);
      expect((await daemon.get('/metrics')).status).toBe(200);
      expect((await daemon.get('/api/v1/rollouts')).status).toBe(503);
      await until('what runs to end meanwhile', () => night.record().tasksInFlight === 0);
      const createsBefore = night.record().creates.length;
      server = await startRedis();
      await until('/readyz to be well again', async () => (await readiness()).status === 200);
      const status = await untilEnded(daemon, rolloutId);
      expect(status.state).toBe('succeeded');
      expect(night.record().creates.length).toBeGreaterThan(createsBefore);
      expect(createdTwice(night.record())).toEqual([]);
      expect(brokenPromises(night, status, await upgradesOf(daemon, rolloutId))).toEqual([]);
      const told = daemon.log.filter(({ event }) => event.startsWith('redis.'));
      expect(told.map(({ event }) => event)).toEqual([
        'redis.reachable',
        'redis.unreachable',
        'redis.reachable',
      ]);
      expect(daemon.logText()).not.toContain(password);
    },
  );
});
