import { type ConnectionOptions, DelayedError, type Job, Queue } from 'bullmq';
import { createTask, type ScheduledTask, schedule } from 'node-cron';
import type { DurationMs, EpochMs } from '../base/time.ts';
import { withEitherSignal } from '../base/waiting.ts';
import type { ScanForecast } from '../orchestrator/ports/scan-book.ts';
import { BackoffWorker } from './backoff-worker.ts';
import type { QueueNames } from './queue-names.ts';

export interface ScanSchedule {
  readonly policy: string;
  /** Identifies the policy's config. Only a daemon with the same config runs a tick. */
  readonly version: string;
  readonly cron: string;
  readonly timeZone: string;
}

/** One tick of a policy's schedule, across all daemons. */
export interface ScanTick {
  readonly policy: string;
  readonly version: string;
  readonly origin: 'schedule' | 'start';
  /** True: it retries a failed scan. */
  readonly isRepeat?: boolean;
}

export interface ScanScheduleParts {
  readonly connection: ConnectionOptions;
  readonly names: QueueNames;
  readonly schedules: readonly ScanSchedule[];
  /** @returns when to retry the scan, if it failed and the schedule's next tick is not sooner */
  readonly runScan: (tick: ScanTick, signal: AbortSignal) => Promise<EpochMs | undefined>;
  /** Called when a scan threw. The next tick tries again. */
  readonly onScanError: (tick: ScanTick, error: unknown) => void;
  /** Called when a tick is dropped because no daemon had its version of the policy's config. */
  readonly onDropped: (tick: ScanTick) => void;
  readonly onError: (error: Error) => void;
  readonly requeue?: Requeue;
  /** While it is false, no tick is run. */
  readonly mayRun: () => boolean;
}

/** How a daemon with another config requeues a tick for others: after this time, at most so many times. */
export interface Requeue {
  readonly afterMs: DurationMs;
  readonly max: number;
}

// Five minutes in total. A deploy replaces all daemons in less, or is stuck.
const defaultRequeue: Requeue = { afterMs: 2_000, max: 150 };

// Job ids are kept for a day, so that a late daemon does not run the same tick again.
const tickKeptSeconds = 86_400;

// A limit for any schedule: minutes of a hundred policies that tick each second.
const ticksKeptMax = 10_000;

const kept = { age: tickKeptSeconds, count: ticksKeptMax };

const lockDurationMs = 10_000;

/**
 * Runs every policy's schedule. node-cron ticks in every daemon, and the tick's instant in the job's id lets BullMQ run
 * each tick once. While a scan runs, at most one tick of its policy waits: the last one covers the others. While a new
 * config is being deployed, each tick is left to daemons with the config that made it. Other daemons do not know the
 * policy, or would plan collectors that it now excludes (P5).
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
  /** Never throws. A tick that Redis refuses is lost, and the next one scans again. */
  const tick = (scanSchedule: ScanSchedule, origin: ScanTick['origin'], at: Date): Promise<void> =>
    addTick(queue, scanSchedule, origin, at).catch((error: unknown) => onError(asError(error)));
  const stopTasks = async (): Promise<void> => {
    for (const task of tasks) await task.destroy();
  };
  const use = (present: readonly ScanSchedule[]): void => {
    schedules = present;
    tasks = present.map((each) =>
      schedule(
        each.cron,
        // `date` is the instant at which the tick was due, which is the same in every daemon.
        ({ date }) => tick(each, 'schedule', date),
        { timezone: each.timeZone, suppressMissedWarning: true },
      ),
    );
  };
  use(parts.schedules);
  return {
    /** Scans every policy now, as at the start of a daemon. Never throws. */
    tickAll: async (at: Date): Promise<void> => {
      for (const each of schedules) await tick(each, 'start', at);
    },
    /** Switches to these schedules, and scans now for the policies that have changed. */
    follow: async (present: readonly ScanSchedule[], at: Date): Promise<void> => {
      const changed = present.filter(({ policy, version }) => versionOf(policy) !== version);
      await stopTasks();
      use(present);
      for (const each of changed) await tick(each, 'start', at);
    },
    close: async (): Promise<void> => {
      await stopTasks();
      stopping.abort();
      await worker.close();
      await queue.close();
    },
  };
}

/** Runs the ticks of this daemon's configs, and requeues the others. */
function startTickWorker(
  {
    connection,
    names,
    requeue = defaultRequeue,
    mayRun,
    runScan,
    onScanError,
    onDropped,
    onError,
  }: ScanScheduleParts,
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
      if (job.attemptsStarted > requeue.max) {
        // A new config was scanned when it was loaded, so it needs no retry of an older scan.
        if (job.data.isRepeat !== true) onDropped(job.data);
        return;
      }
      await job.moveToDelayed(Date.now() + requeue.afterMs, token);
      throw new DelayedError();
    }
    try {
      const retryAt = await withEitherSignal([signal, stopping], (either) => runScan(job.data, either));
      if (retryAt !== undefined) await addRepeat(queue, job.data, retryAt);
    } catch (error) {
      // BullMQ stores a failed job without reporting it.
      if (!stopping.aborted) onScanError(job.data, error);
      throw error;
    }
  };
  const worker = new BackoffWorker<ScanTick>(
    names.scans,
    runTick,
    {
      connection,
      prefix: names.prefix,
      concurrency: 2,
      lockDuration: lockDurationMs,
      // A new tick wakes the worker. A tick whose wake-up was lost with a daemon may be this late.
      drainDelay: 5,
      maxStalledCount: 100,
    },
    mayRun,
  );
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

/** Not deduplicated, because the tick that it retries is still active. It is due before the schedule's next tick. */
async function addRepeat(queue: Queue<ScanTick>, tick: ScanTick, retryAt: EpochMs): Promise<void> {
  const { policy, version } = tick;
  await queue.add(
    'scan',
    { ...tick, isRepeat: true },
    {
      jobId: `${policy}.${version}.again.${secondOf(new Date(retryAt))}`,
      delay: Math.max(0, retryAt - Date.now()),
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

/** Forecasts the ticks of each policy's schedule, whether or not this daemon follows it. */
export function makeScanForecast(schedules: readonly ScanSchedule[]): ScanForecast {
  const tasks = new Map(
    // Never started: only used to compute instants.
    schedules.map(({ policy, cron, timeZone }) => [
      policy,
      createTask(cron, () => {}, { timezone: timeZone }),
    ]),
  );
  return (policy, count) => (tasks.get(policy)?.getNextRuns(count) ?? []).map((date) => date.getTime());
}
