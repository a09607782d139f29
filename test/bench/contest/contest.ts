import { randomBytes } from 'node:crypto';
import type { DurationMs, EpochMs } from '../../../src/base/time.ts';
import { serviceLimits } from '../../../src/contract/collector-management/limits.ts';
import type { RecordSnapshot } from '../../../src/reference-service/api/service-record.ts';
import type { ScenarioInput } from '../../../src/reference-service/scenario/scenario.ts';
import type { Pace } from '../bench-config.ts';
import { startServiceProcess } from '../processes/service-process.ts';
import { quantile } from '../quantile.ts';
import type { ContestantName, MeasuredPerformance } from './contestant.ts';
import { runContestant } from './contestant-process.ts';
import { greedyMakespan } from './greedy.ts';
import { findBrokenPromises } from './promises.ts';

/** What is upgraded, and within which limits; the same for every contestant. */
export interface Contest extends Pace {
  /** What limits it: the slots, or the service's request rate. */
  readonly binds: 'slots' | 'rate';
  readonly collectors: number;
  readonly durations: { readonly median: string; readonly p95: string; readonly max: string };
  /** The goal: makespan over the shortest schedule. */
  readonly overMax: number;
  /** So many times as long take all Windows, a fifth of the fleet then. Default: as long as the others. */
  readonly slowTimes?: number;
  /** Each request takes up to so much longer to the service, in its time. Default: none. */
  readonly jitterMs?: DurationMs;
}

/** Figures of one run, or the median of each over several; all times are the service's. */
export interface Figures {
  readonly upgrades: number;
  /** From the first create until the last task's end was known. */
  readonly makespanMs: DurationMs;
  /** From the first create until the work was over, including verifications. */
  readonly doneMs: DurationMs;
  /** Makespan over a schedule of its own durations in its own order, without any delay. */
  readonly overGreedy: number;
  /** Makespan over the whole work divided by the slots: no schedule in any order is shorter. */
  readonly overWork: number;
  /** Makespan over what rate and durations allow: greedy, or as many requests at the whole rate if that is longer. */
  readonly overBound: number;
  readonly requestsPerUpgrade: number;
  readonly throttled: number;
  /** The delay from an end to its detection. */
  readonly seenDelayMedianMs: DurationMs;
  readonly seenDelayP95Ms: DurationMs;
  /** The same as shares of the median duration. */
  readonly seenDelayMedianShare: number;
  readonly seenDelayP95Share: number;
  /** The delay from a detected end to the create that takes its slot; NaN where there are slots for all. */
  readonly refillMedianMs: DurationMs;
  readonly refillP95Ms: DurationMs;
  readonly tasksInFlightMax: number;
  readonly requestsInOneSecondMax: number;
  readonly cpuSeconds: number;
  readonly rssPeakBytes: number;
}

/** How one contestant did. */
export interface Standing {
  readonly name: ContestantName;
  readonly figures: Figures;
  readonly requestsByOperation: Readonly<Record<string, number>>;
  /** From and to of every task, from the first create on. */
  readonly tasks: ReadonlyArray<readonly [fromMs: DurationMs, toMs: DurationMs]>;
  readonly broken: readonly string[];
}

/** Lets one contestant upgrade the fleet of a reference service of its own, and judges it by that service's record. */
export async function hold(contest: Contest, name: ContestantName): Promise<Standing> {
  const credentials = { accessId: 'bench', accessKey: randomBytes(18).toString('base64url') };
  const { speed, slots, expectMs, jitterMs } = contest;
  const service = await startServiceProcess({
    ...{ scenario: scenarioOf(contest), speed, credentials },
    ...(jitterMs === undefined ? {} : { jitterMs }),
  });
  try {
    const { baseUrl } = service;
    const performance = await runContestant({ name, baseUrl, credentials, speed, slots, expectMs });
    return judge(contest, name, performance, await service.readRecord(), service.toServiceTime);
  } finally {
    await service.stop();
  }
}

/** The run whose makespan is the median, with the median of each figure, the most answers 429, and what any run broke. */
export function medianOf(standings: readonly Standing[]): Standing {
  const middle = standings.toSorted((a, b) => a.figures.makespanMs - b.figures.makespanMs)[
    Math.floor((standings.length - 1) / 2)
  ];
  if (middle === undefined) throw new Error('a median needs a run');
  const names = Object.keys(middle.figures) as Array<keyof Figures>;
  const medians = names.map((name) => [
    name,
    quantile(
      standings.map(({ figures }) => figures[name]),
      // A single one is one too many.
      name === 'throttled' ? 1 : 0.5,
    ),
  ]);
  return {
    ...middle,
    figures: Object.fromEntries(medians) as Figures,
    broken: standings.flatMap(({ broken }) => broken),
  };
}

/** Every collector can be upgraded and every first try goes well, so that all contestants have the same work. */
export function scenarioOf({
  collectors,
  durations,
  slowTimes,
}: Pick<Contest, 'collectors' | 'durations' | 'slowTimes'>): ScenarioInput {
  const slow = slowTimes === undefined ? [] : [{ match: { osName: 'Windows*' }, times: slowTimes }];
  return {
    fleet: {
      size: collectors,
      seed: 'bench',
      shares: {
        ...(slowTimes === undefined ? {} : { windows: 0.2 }),
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
    durations: { ...durations, slow },
    failures: [{ outcome: 'succeeded' }],
  };
}

function judge(
  contest: Contest,
  name: ContestantName,
  performance: MeasuredPerformance,
  record: RecordSnapshot,
  toServiceTime: (realAt: EpochMs) => EpochMs,
): Standing {
  const creates = record.creates.toSorted((a, b) => a.at - b.at);
  const beganAt = creates[0]?.at ?? 0;
  const seen = performance.endsSeen.map(({ collectorId, at }) => ({ collectorId, at: toServiceTime(at) }));
  const requests = Object.values(record.requests).reduce((sum, count) => sum + count, 0);
  const makespanMs = Math.max(...seen.map(({ at }) => at)) - beganAt;
  const { requestsPerSecond } = serviceLimits;
  const durations = creates.map(({ at, endsAt }) => endsAt - at);
  const greedyMs = greedyMakespan(durations, { slots: contest.slots, requestsPerSecond });
  return {
    name,
    figures: {
      upgrades: creates.length,
      makespanMs,
      doneMs: toServiceTime(performance.doneAt) - beganAt,
      overGreedy: makespanMs / greedyMs,
      overWork: (makespanMs * contest.slots) / durations.reduce((sum, each) => sum + each, 0),
      overBound: makespanMs / Math.max(greedyMs, (requests / requestsPerSecond) * 1_000),
      requestsPerUpgrade: requests / creates.length,
      throttled: record.throttled.rate + record.throttled.concurrency + record.throttled.fault,
      ...delaysOf(creates, seen, quantile(durations, 0.5)),
      ...refillsOf(creates, seen, contest.slots),
      tasksInFlightMax: record.tasksInFlightMax,
      requestsInOneSecondMax: record.requestsInOneSecondMax,
      cpuSeconds: performance.cpuSeconds,
      rssPeakBytes: performance.rssPeakBytes,
    },
    requestsByOperation: record.requests,
    tasks: creates.map(({ at, endsAt }) => [at - beganAt, endsAt - beganAt]),
    broken: findBrokenPromises(contest, performance, record),
  };
}

type Seen = ReadonlyArray<{ readonly collectorId: number; readonly at: EpochMs }>;

function delaysOf(creates: RecordSnapshot['creates'], seen: Seen, medianDurationMs: DurationMs) {
  const endsAt = new Map(creates.map((create) => [create.collectorId, create.endsAt]));
  const delays = seen.map(({ collectorId, at }) => at - (endsAt.get(collectorId) ?? Number.NaN));
  const [median, p95] = [quantile(delays, 0.5), quantile(delays, 0.95)];
  return {
    seenDelayMedianMs: median,
    seenDelayP95Ms: p95,
    seenDelayMedianShare: median / medianDurationMs,
    seenDelayP95Share: p95 / medianDurationMs,
  };
}

function refillsOf(creates: RecordSnapshot['creates'], seen: Seen, slots: number) {
  const seenInOrder = seen.map(({ at }) => at).sort((a, b) => a - b);
  const refills = creates.slice(slots).map(({ at }, index) => at - (seenInOrder[index] ?? Number.NaN));
  return { refillMedianMs: quantile(refills, 0.5), refillP95Ms: quantile(refills, 0.95) };
}
