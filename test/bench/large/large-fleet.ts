import type { DurationMs } from '../../../src/base/time.ts';
import { sleepForReal } from '../../../src/base/waiting.ts';
import { loadRolloutView } from '../../../src/orchestrator/records/read-records.ts';
import { makeRedisConnection } from '../../../src/redis/connection/connection.ts';
import { decide } from '../../../src/rollout/decision/decide.ts';
import { quietView } from '../../support/quiet-parts.ts';
import { aRedisRegister, aRedisStore } from '../../support/redis/redis-adapters.ts';
import { startProcess } from '../../support/redis/start-test-redis.ts';
import { until } from '../../support/until.ts';
import { type DaemonProcess, type LogLine, startDaemon } from '../processes/daemon-process.ts';
import { startRollout } from '../processes/start-rollout.ts';
import { quantile } from '../quantile.ts';
import { type BenchAccount, keyPrefix, namesOf, paceOf, startAccounts } from './bench-accounts.ts';
import { keepRollouts } from './kept-rollouts.ts';
import { readRedisUsage } from './redis-usage.ts';

export interface LargeBrief {
  readonly collectors: number;
  /** How many accounts share them, and the slots. */
  readonly accounts: number;
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
  readonly accounts: number;
  readonly plannedMs: DurationMs;
  readonly reads: readonly ReadTimes[];
  readonly restartMs: DurationMs;
  readonly cpuMsPerUpgrade: DurationMs;
  readonly commandsPerUpgrade: number;
  readonly rssBytes: number;
  readonly rssPeakBytes: number;
  readonly redisBytes: number;
}

const plannedWithinMs = 600_000;
const readsEach = 60;
const pendingSearched = 200;
// At the start each collector is polled, since its heartbeat is older than the offer.
const startingUpgrades = { full: 100, short: 10 } as const;
const measureMs = { full: 15_000, short: 3_000 } as const;

/** Measures one daemon in the middle of a rollout of a fleet of this size. */
export async function measureLargeFleet(brief: LargeBrief): Promise<LargeFigures> {
  const { collectors, accounts, keptRollouts } = brief;
  const length = brief.isShort ? 'short' : 'full';
  const ofAccounts = namesOf(accounts);
  const redis = await startProcess();
  const pace = paceOf(accounts);
  const { service, config } = await startAccounts(ofAccounts, collectors, redis.url, pace);
  const connection = makeRedisConnection({ url: redis.url, keyPrefix }, 'worker');
  const events = new Map<string, number>();
  const onLine = ({ event }: LogLine) => void events.set(event, (events.get(event) ?? 0) + 1);
  const count = (event: string) => events.get(event) ?? 0;
  try {
    for (const of of ofAccounts) await keepRollouts(redis.url, of, keptRollouts / accounts);
    const startedAt = performance.now();
    const daemon = await startRollout(config, onLine, pace);
    const areAllPlanned = () => count('rollout.planned') === accounts;
    await Promise.race([until('all plans', areAllPlanned, plannedWithinMs), daemon.failed]);
    const plannedMs = performance.now() - startedAt;
    const isPastStart = () => count('upgrade.succeeded') > startingUpgrades[length];
    await Promise.race([until('upgrades that end', isPastStart, plannedWithinMs), daemon.failed]);
    const use = async () => ({
      ...(await readRedisUsage(connection.commands)),
      ...daemon.usage(),
      ended: count('upgrade.succeeded'),
    });
    const before = await use();
    await sleepForReal(measureMs[length]);
    const after = await use();
    const ended = after.ended - before.ended;
    const reads = await measureReads(daemon, ofAccounts, connection.commands);
    await daemon.stop('SIGTERM');
    const stoppedAt = performance.now();
    events.clear();
    const next = await startDaemon(config, onLine);
    await until('the next step', () => [...events.keys()].some((event) => event.startsWith('upgrade.')));
    const restartMs = performance.now() - stoppedAt;
    await next.stop('SIGTERM');
    return {
      collectors,
      accounts,
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
  accounts: readonly BenchAccount[],
  commands: ReturnType<typeof makeRedisConnection>['commands'],
): Promise<readonly ReadTimes[]> {
  const [status] = await api.listRollouts();
  if (status === undefined) throw new Error('the rollout is gone');
  const { id } = status;
  // Far behind in the plan, so that no walk from its beginning finds it soon.
  const { collectors } = await api.searchUpgrades(id, { limit: pendingSearched, state: ['pending'] });
  const pending = collectors.at(-1);
  const [of = { keyPrefix }] = accounts.filter(({ policy }) => policy === status.policy);
  const parts = {
    ...quietView,
    store: aRedisStore({ commands, keyPrefix: of.keyPrefix }),
    register: aRedisRegister({ commands, keyPrefix: of.keyPrefix }),
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
