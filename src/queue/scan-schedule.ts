import { type ConnectionOptions, type Job, Queue } from 'bullmq';
import { schedule } from 'node-cron';
import { withEitherSignal } from '../base/with-either-signal.ts';
import { CalmWorker } from './calm-worker.ts';
import type { QueueNames } from './queue-names.ts';

export interface ScanSchedule {
  readonly policy: string;
  readonly cron: string;
  readonly timeZone: string;
}

/** One tick of a policy's schedule, over all daemons. */
export interface ScanTick {
  readonly policy: string;
  readonly origin: 'schedule' | 'start';
}

export interface ScanScheduleParts {
  readonly connection: ConnectionOptions;
  readonly names: QueueNames;
  readonly schedules: readonly ScanSchedule[];
  readonly runScan: (tick: ScanTick, signal: AbortSignal) => Promise<void>;
  /** A scan that threw; the next tick tries again. */
  readonly onScanError: (tick: ScanTick, error: unknown) => void;
  readonly onError: (error: Error) => void;
}

export interface RunningScanSchedule {
  /** Looks for work now, for every policy: done once at start. */
  tickAll(at: Date): Promise<void>;
  close(): Promise<void>;
}

// Kept for a day, an id that ran keeps a late daemon from running the same tick again.
const tickKeptSeconds = 86_400;

// And no more than these, whatever the schedules are: minutes of a hundred policies that tick each second.
const ticksKeptMax = 10_000;

const lockDurationMs = 10_000;

/**
 * Runs every policy's schedule: node-cron ticks in every daemon, and the tick's instant in the job's id lets BullMQ
 * run each one once.
 */
export function startScanSchedule(parts: ScanScheduleParts): RunningScanSchedule {
  const { connection, names } = parts;
  const queue = new Queue<ScanTick>(names.scans, { connection, prefix: names.prefix });
  const stopping = new AbortController();
  const worker = new CalmWorker<ScanTick>(
    names.scans,
    async (job: Job<ScanTick>, _token?: string, signal?: AbortSignal) => {
      try {
        await withEitherSignal([signal, stopping.signal], (either) => parts.runScan(job.data, either));
      } catch (error) {
        // BullMQ keeps it as a failed job, of which nobody is told.
        if (!stopping.signal.aborted) parts.onScanError(job.data, error);
        throw error;
      }
    },
    {
      connection,
      prefix: names.prefix,
      concurrency: 2,
      lockDuration: lockDurationMs,
      drainDelay: 1,
      maxStalledCount: 100,
    },
  );
  queue.on('error', parts.onError);
  worker.on('error', parts.onError);

  const tick = async (policy: string, origin: ScanTick['origin'], at: Date): Promise<void> => {
    const second = at.toISOString().slice(0, 19).replaceAll(':', '');
    const kept = { age: tickKeptSeconds, count: ticksKeptMax };
    const opts = { jobId: `${policy}.${origin}.${second}`, removeOnComplete: kept, removeOnFail: kept };
    await queue.add('scan', { policy, origin }, opts);
  };
  const tasks = parts.schedules.map(({ policy, cron, timeZone }) =>
    schedule(
      cron,
      // `date` is the instant the tick was due at, the same on every daemon, not when it was noticed.
      ({ date }) => tick(policy, 'schedule', date).catch((error: unknown) => parts.onError(asError(error))),
      { timezone: timeZone, suppressMissedWarning: true },
    ),
  );
  return {
    tickAll: async (at) => {
      for (const { policy } of parts.schedules) await tick(policy, 'start', at);
    },
    close: async () => {
      for (const task of tasks) await task.destroy();
      stopping.abort();
      await worker.close();
      await queue.close();
    },
  };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
