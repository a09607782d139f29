import { type ConnectionOptions, DelayedError, type Job, Queue } from 'bullmq';
import { createTask, type ScheduledTask, schedule } from 'node-cron';
import type { DurationMs, EpochMs } from '../base/time.ts';
import { withEitherSignal } from '../base/waiting.ts';
import type { ScanForecast } from '../orchestrator/ports/scan-book.ts';
import { BackoffWorker } from './backoff-worker.ts';
import type { QueueNames } from './queue-names.ts';

export interface ScanSchedule {
  readonly policy: string;
  /** Names what the policy says: a tick is run by a daemon whose config says the same. */
  readonly version: string;
  readonly cron: string;
  readonly timeZone: string;
}

/** One tick of a policy's schedule, over all daemons. */
export interface ScanTick {
  readonly policy: string;
  readonly version: string;
  readonly origin: 'schedule' | 'start';
  /** True: it repeats a scan that failed. */
  readonly isRepeat?: boolean;
}

export interface ScanScheduleParts {
  readonly connection: ConnectionOptions;
  readonly names: QueueNames;
  readonly schedules: readonly ScanSchedule[];
  /** @returns when the scan has to be repeated, where it failed and the schedule is not sooner */
  readonly runScan: (tick: ScanTick, signal: AbortSignal) => Promise<EpochMs | undefined>;
  /** A scan that threw; the next tick tries again. */
  readonly onScanError: (tick: ScanTick, error: unknown) => void;
  /** A tick that no daemon took whose config says of the policy what the one said that made it. */
  readonly onUntaken: (tick: ScanTick) => void;
  readonly onError: (error: Error) => void;
  readonly passOn?: PassOn;
}

/** How a daemon leaves a tick to others: it comes back so much later, at most so many times. */
export interface PassOn {
  readonly afterMs: DurationMs;
  readonly max: number;
}

// Five minutes: a deploy replaces all daemons in less, or has stopped half way.
const defaultPassOn: PassOn = { afterMs: 2_000, max: 150 };

// Kept for a day, an id that ran keeps a late daemon from running the same tick again.
const tickKeptSeconds = 86_400;

// And no more than these, whatever the schedules are: minutes of a hundred policies that tick each second.
const ticksKeptMax = 10_000;

const kept = { age: tickKeptSeconds, count: ticksKeptMax };

const lockDurationMs = 10_000;

/**
 * Runs every policy's schedule: node-cron ticks in every daemon, and the tick's instant in the job's id lets BullMQ
 * run each one once. While a scan runs, one tick of its policy waits at most: the last one sees what the others would
 * have seen. While a config is replaced daemon by daemon, each tick is left to those that have the one it came from,
 * since the others do not know the policy, or would plan whom it excludes by now (P5).
 */
export function startScanSchedule(parts: ScanScheduleParts) {
  const { connection, names, onError } = parts;
  let schedules: readonly ScanSchedule[] = [];
  let tasks: readonly ScheduledTask[] = [];
  const versionOf = (policy: string) => schedules.find((each) => each.policy === policy)?.version;
  const stopping = new AbortController();
  const queue = new Queue<ScanTick>(names.scans, { connection, prefix: names.prefix });
  queue.on('error', onError);
  const worker = startTickWorker(parts, { queue, versionOf, stopping: stopping.signal });
  /** Never throws: a tick that Redis refuses is lost, and the next one scans again. */
  const tick = (of: ScanSchedule, origin: ScanTick['origin'], at: Date): Promise<void> =>
    addTick(queue, of, origin, at).catch((error: unknown) => onError(asError(error)));
  const stopTasks = async (): Promise<void> => {
    for (const task of tasks) await task.destroy();
  };
  const use = (present: readonly ScanSchedule[]): void => {
    schedules = present;
    tasks = present.map((each) =>
      schedule(
        each.cron,
        // `date` is the instant the tick was due at, the same on every daemon, not when it was noticed.
        ({ date }) => tick(each, 'schedule', date),
        { timezone: each.timeZone, suppressMissedWarning: true },
      ),
    );
  };
  use(parts.schedules);
  return {
    /** Scans every policy now, as a daemon does when it starts. Never throws. */
    tickAll: async (at: Date): Promise<void> => {
      for (const each of schedules) await tick(each, 'start', at);
    },
    /** Takes these schedules from now on, and scans now for the policies that have changed. */
    follow: async (present: readonly ScanSchedule[], at: Date): Promise<void> => {
      const news = present.filter(({ policy, version }) => versionOf(policy) !== version);
      await stopTasks();
      use(present);
      for (const each of news) await tick(each, 'start', at);
    },
    close: async (): Promise<void> => {
      await stopTasks();
      stopping.abort();
      await worker.close();
      await queue.close();
    },
  };
}

/** Runs the ticks of the configs that this daemon has, and leaves the others to other daemons. */
function startTickWorker(
  { connection, names, passOn = defaultPassOn, runScan, onScanError, onUntaken, onError }: ScanScheduleParts,
  {
    queue,
    versionOf,
    stopping,
  }: {
    readonly queue: Queue<ScanTick>;
    readonly versionOf: (policy: string) => string | undefined;
    readonly stopping: AbortSignal;
  },
): BackoffWorker<ScanTick> {
  const runTick = async (job: Job<ScanTick>, token?: string, signal?: AbortSignal): Promise<void> => {
    if (versionOf(job.data.policy) !== job.data.version) {
      if (job.attemptsStarted > passOn.max) {
        // A config that has come since was scanned when it came.
        if (job.data.isRepeat !== true) onUntaken(job.data);
        return;
      }
      await job.moveToDelayed(Date.now() + passOn.afterMs, token);
      throw new DelayedError();
    }
    try {
      const againAt = await withEitherSignal([signal, stopping], (either) => runScan(job.data, either));
      if (againAt !== undefined) await addRepeat(queue, job.data, againAt);
    } catch (error) {
      // BullMQ keeps it as a failed job, and reports it to nobody.
      if (!stopping.aborted) onScanError(job.data, error);
      throw error;
    }
  };
  const worker = new BackoffWorker<ScanTick>(names.scans, runTick, {
    connection,
    prefix: names.prefix,
    concurrency: 2,
    lockDuration: lockDurationMs,
    // A tick wakes its worker. One whose wake-up was lost with a daemon may be this late.
    drainDelay: 5,
    maxStalledCount: 100,
  });
  worker.on('error', onError);
  return worker;
}

async function addTick(
  queue: Queue<ScanTick>,
  { policy, version }: ScanSchedule,
  origin: ScanTick['origin'],
  at: Date,
): Promise<void> {
  await queue.add(
    'scan',
    { policy, version, origin },
    {
      jobId: `${policy}.${version}.${origin}.${secondOf(at)}`,
      deduplication: { id: `${policy}.${version}`, keepLastIfActive: true },
      removeOnComplete: kept,
      removeOnFail: kept,
    },
  );
}

/** Not deduplicated: the tick that it repeats is still active. Each ends before the schedule's next tick. */
async function addRepeat(queue: Queue<ScanTick>, tick: ScanTick, againAt: EpochMs): Promise<void> {
  const { policy, version } = tick;
  await queue.add(
    'scan',
    { ...tick, isRepeat: true },
    {
      jobId: `${policy}.${version}.again.${secondOf(new Date(againAt))}`,
      delay: Math.max(0, againAt - Date.now()),
      removeOnComplete: kept,
      removeOnFail: kept,
    },
  );
}

function secondOf(at: Date): string {
  return at.toISOString().slice(0, 19).replaceAll(':', '');
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** When each policy's schedule ticks next, whether or not this daemon follows it. */
export function makeScanForecast(schedules: readonly ScanSchedule[]): ScanForecast {
  const tasks = new Map(
    // Never started: it is asked for its instants only.
    schedules.map(({ policy, cron, timeZone }) => [
      policy,
      createTask(cron, () => {}, { timezone: timeZone }),
    ]),
  );
  return (policy, count) => (tasks.get(policy)?.getNextRuns(count) ?? []).map((date) => date.getTime());
}
