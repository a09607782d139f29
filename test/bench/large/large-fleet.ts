import { randomBytes } from 'node:crypto';
import type { DurationMs } from '../../../src/base/time.ts';
import { sleepForReal } from '../../../src/base/waiting.ts';
import { loadRolloutView } from '../../../src/orchestrator/records/read-records.ts';
import { makeRedisConnection } from '../../../src/redis/connection/connection.ts';
import { makeRedisFleetRegister } from '../../../src/redis/coordination/fleet-register.ts';
import { makeRedisRolloutStore } from '../../../src/redis/rollout-store/rollout-store.ts';
import { decide } from '../../../src/rollout/decision/decide.ts';
import { startProcess } from '../../support/redis/start-test-redis.ts';
import { until } from '../../support/until.ts';
import { benchConfig } from '../bench-config.ts';
import { scenarioOf } from '../contest/contest.ts';
import { type DaemonProcess, type LogLine, startDaemon } from '../processes/daemon-process.ts';
import { startServiceProcess } from '../processes/service-process.ts';
import { startRollout } from '../processes/start-rollout.ts';
import { quantile } from '../quantile.ts';
import { keepRollouts } from './kept-rollouts.ts';
import { readRedisUsage } from './redis-usage.ts';

export interface LargeBrief {
  readonly collectors: number;
  readonly keptRollouts: number;
  readonly isShort: boolean;
}

/** A read that an operator or the daemon itself waits for. */
export interface ReadTimes {
  readonly name: string;
  /** What it takes where nothing else wants the machine. */
  readonly leastMs: DurationMs;
  readonly medianMs: DurationMs;
  readonly p95Ms: DurationMs;
}

export interface LargeFigures {
  readonly collectors: number;
  readonly plannedMs: DurationMs;
  readonly reads: readonly ReadTimes[];
  readonly restartMs: DurationMs;
  readonly cpuMsPerUpgrade: DurationMs;
  readonly commandsPerUpgrade: number;
  readonly rssBytes: number;
  readonly rssPeakBytes: number;
  readonly redisBytes: number;
}

const pace = { speed: 10, slots: 100, expectMs: 50_000 };
const durations = { median: '50s', p95: '70s', max: '90s' };
const keyPrefix = 'upwave';
const plannedWithinMs = 600_000;
const readsEach = 60;

/** Measures one daemon in the middle of a rollout of a fleet of this size. */
export async function measureLargeFleet({
  collectors,
  keptRollouts,
  isShort,
}: LargeBrief): Promise<LargeFigures> {
  const credentials = { accessId: 'bench', accessKey: randomBytes(18).toString('base64url') };
  const redis = await startProcess();
  const service = await startServiceProcess({
    scenario: scenarioOf({ collectors, durations }),
    speed: pace.speed,
    credentials,
  });
  const connection = makeRedisConnection({ url: redis.url, keyPrefix }, 'worker');
  const config = benchConfig(
    pace,
    { ...service, credentials, redisUrl: redis.url },
    { schedule: '0 * * * *' },
  );
  const events = new Map<string, number>();
  const onLine = ({ event }: LogLine) => void events.set(event, (events.get(event) ?? 0) + 1);
  const count = (event: string) => events.get(event) ?? 0;
  try {
    await keepRollouts(redis.url, keyPrefix, keptRollouts);
    const startedAt = performance.now();
    const daemon = await startRollout(config, onLine);
    await Promise.race([until('a plan', () => count('rollout.planned') > 0, plannedWithinMs), daemon.failed]);
    const plannedMs = performance.now() - startedAt;
    await until('upgrades that end', () => count('upgrade.succeeded') > pace.slots / 10, plannedWithinMs);
    const before = {
      ...(await readRedisUsage(connection.commands)),
      ...daemon.usage(),
      ended: count('upgrade.succeeded'),
    };
    await sleepForReal(isShort ? 3_000 : 15_000);
    const after = {
      ...(await readRedisUsage(connection.commands)),
      ...daemon.usage(),
      ended: count('upgrade.succeeded'),
    };
    const ended = after.ended - before.ended;
    const reads = await measureReads(daemon, connection.commands);
    await daemon.stop('SIGTERM');
    const stoppedAt = performance.now();
    events.clear();
    const next = await startDaemon(config, onLine);
    await until('the next step', () => [...events.keys()].some((event) => event.startsWith('upgrade.')));
    const restartMs = performance.now() - stoppedAt;
    await next.stop('SIGTERM');
    return {
      collectors,
      plannedMs,
      reads,
      restartMs,
      cpuMsPerUpgrade: ((after.cpuSeconds - before.cpuSeconds) * 1_000) / ended,
      commandsPerUpgrade: (after.commands - before.commands) / ended,
      rssBytes: after.rssBytes,
      rssPeakBytes: after.rssPeakBytes,
      redisBytes: after.memoryBytes,
    };
  } finally {
    await connection.close();
    await service.stop();
    await redis.close();
  }
}

/** What operators and Prometheus ask, over HTTP; and the leader's own pass, in this process on the same records. */
async function measureReads(
  { api, url }: DaemonProcess,
  commands: ReturnType<typeof makeRedisConnection>['commands'],
): Promise<readonly ReadTimes[]> {
  const [status] = await api.listRollouts();
  if (status === undefined) throw new Error('the rollout is gone');
  const { id } = status;
  const { collectors } = await api.searchUpgrades(id, { limit: 1, state: ['pending'] });
  const [pending] = collectors;
  const parts = {
    store: makeRedisRolloutStore({ commands, keyPrefix }),
    register: makeRedisFleetRegister({ commands, keyPrefix }),
  };
  const reads: ReadonlyArray<readonly [string, () => Promise<unknown>]> = [
    ['status', () => api.rolloutStatus(id)],
    ['overview', () => api.listRollouts()],
    ['explain by id', () => api.explain(String(pending?.collectorId))],
    ['explain by name', () => api.explain(pending?.collectorName ?? '')],
    ['failed collectors', () => api.searchUpgrades(id, { limit: 50, state: ['failed'] })],
    ['scrape', async () => (await fetch(`${url}/metrics`)).text()],
    [
      "the leader's pass",
      async () => {
        const now = Date.now();
        const view = await loadRolloutView(parts, id, { now, overdueBefore: now - 3_000, pageSize: 500 });
        if (view !== undefined) decide(view, now);
      },
    ],
  ];
  const times: ReadTimes[] = [];
  for (const [name, read] of reads) {
    const takenMs: DurationMs[] = [];
    for (let each = 0; each < readsEach; each += 1) {
      const from = performance.now();
      await read();
      takenMs.push(performance.now() - from);
    }
    times.push({
      name,
      leastMs: Math.min(...takenMs),
      medianMs: quantile(takenMs, 0.5),
      p95Ms: quantile(takenMs, 0.95),
    });
  }
  return times;
}
