import { randomBytes } from 'node:crypto';
import type { DurationMs } from '../../src/base/time.ts';
import { serviceLimits } from '../../src/contract/collector-management/limits.ts';
import type { RecordSnapshot } from '../../src/reference-service/api/service-record.ts';
import type { ScenarioInput } from '../../src/reference-service/scenario/scenario.ts';
import type { ContestantName, MeasuredPerformance } from './contestant.ts';
import { runContestant } from './contestant-process.ts';
import { greedyMakespan } from './greedy.ts';
import { findBrokenPromises } from './promises.ts';
import { quantile } from './quantile.ts';
import { startServiceProcess } from './service-process.ts';

/** What is upgraded, and within which limits; the same for every contestant. */
export interface Contest {
  /** What limits it: the slots, or the service's request rate. */
  readonly binds: 'slots' | 'rate';
  readonly collectors: number;
  readonly slots: number;
  readonly speed: number;
  readonly durations: { readonly median: string; readonly p95: string; readonly max: string };
  readonly expectMs: DurationMs;
}

/** How one contestant did; all times are the service's. */
export interface Standing {
  readonly name: ContestantName;
  readonly upgrades: number;
  /** From the first create until the last task's end was known. */
  readonly makespanMs: DurationMs;
  /** From the first create until the work was over, proofs of return included. */
  readonly doneMs: DurationMs;
  /** Of its own durations in its own order, without any delay. */
  readonly greedyMs: DurationMs;
  /** No schedule that sends as many requests is shorter. */
  readonly requestBoundMs: DurationMs;
  readonly requests: number;
  readonly requestsByOperation: Readonly<Record<string, number>>;
  readonly throttled: number;
  readonly seenDelayMs: { readonly median: DurationMs; readonly p95: DurationMs };
  /** From an end's being known to the create that takes its slot. */
  readonly refillMs: { readonly median: DurationMs; readonly p95: DurationMs };
  readonly tasksInFlightMax: number;
  readonly requestsInOneSecondMax: number;
  readonly cpuSeconds: number;
  readonly rssPeakBytes: number;
  readonly broken: readonly string[];
}

/** Lets one contestant upgrade the fleet of a reference service of its own, and judges it by that service's record. */
export async function hold(contest: Contest, name: ContestantName, redisUrl: string): Promise<Standing> {
  const credentials = { accessId: 'bench', accessKey: randomBytes(18).toString('base64url') };
  const { speed, slots, expectMs } = contest;
  const service = await startServiceProcess({ scenario: scenarioOf(contest), speed, credentials });
  try {
    const { baseUrl } = service;
    const brief = { name, baseUrl, credentials, speed, slots, expectMs, redisUrl };
    const performance = await runContestant(brief);
    return judge(contest, name, performance, await service.readRecord(), service.toServiceTime);
  } finally {
    await service.stop();
  }
}

/** Every collector can be upgraded and every first try goes well, so that all contestants have the same work. */
function scenarioOf(contest: Contest): ScenarioInput {
  return {
    fleet: {
      size: contest.collectors,
      seed: 'bench',
      shares: {
        dead: 0,
        mac: 0,
        hosted: 0,
        container: 0,
        unparsableVersion: 0,
        aboveLatest: 0,
        latestOrOneBehind: 0,
        withinOneYear: 0.5,
        oneToThreeYears: 0.5,
      },
    },
    durations: contest.durations,
    failures: [{ outcome: 'succeeded' }],
  };
}

function judge(
  contest: Contest,
  name: ContestantName,
  performance: MeasuredPerformance,
  record: RecordSnapshot,
  toServiceTime: (realAt: number) => number,
): Standing {
  const creates = [...record.creates].sort((a, b) => a.at - b.at);
  const endsAt = new Map(creates.map((create) => [create.collectorId, create.endsAt]));
  const beganAt = creates[0]?.at ?? 0;
  const seen = performance.endsSeen.map(({ collectorId, at }) => ({ collectorId, at: toServiceTime(at) }));
  const delays = seen.map(({ collectorId, at }) => at - (endsAt.get(collectorId) ?? Number.NaN));
  const seenInOrder = seen.map(({ at }) => at).sort((a, b) => a - b);
  const refills = creates
    .slice(contest.slots)
    .map(({ at }, index) => at - (seenInOrder[index] ?? Number.NaN));
  const requests = Object.values(record.requests).reduce((sum, count) => sum + count, 0);
  const { requestsPerSecond } = serviceLimits;
  const greedyMs = greedyMakespan(
    creates.map((create) => create.endsAt - create.at),
    { slots: contest.slots, requestsPerSecond },
  );
  return {
    name,
    upgrades: creates.length,
    makespanMs: Math.max(...seen.map(({ at }) => at)) - beganAt,
    doneMs: toServiceTime(performance.doneAt) - beganAt,
    greedyMs,
    requestBoundMs: Math.max(greedyMs, (requests / requestsPerSecond) * 1_000),
    requests,
    requestsByOperation: record.requests,
    throttled: record.throttled.rate + record.throttled.concurrency + record.throttled.fault,
    seenDelayMs: { median: quantile(delays, 0.5), p95: quantile(delays, 0.95) },
    refillMs: { median: quantile(refills, 0.5), p95: quantile(refills, 0.95) },
    tasksInFlightMax: record.tasksInFlightMax,
    requestsInOneSecondMax: record.requestsInOneSecondMax,
    cpuSeconds: performance.cpuSeconds,
    rssPeakBytes: performance.rssPeakBytes,
    broken: findBrokenPromises(contest, performance, record),
  };
}
