import { type ConnectionOptions, DelayedError, ErrorCode, type Job } from 'bullmq';
import type { DurationMs, EpochMs } from '../base/time.ts';
import type { StepOutcome } from '../orchestrator/ports/leader.ts';
import { BackoffWorker } from './backoff-worker.ts';

export interface TurnWorkerParts<Data> {
  readonly connection: ConnectionOptions;
  readonly prefix: string;
  readonly queue: string;
  readonly concurrency: number;
  /** While it is false, no turn is taken. */
  readonly mayRun: () => boolean;
  readonly run: (data: Data, signal: AbortSignal) => Promise<StepOutcome>;
  /** Redelivers a job at an instant, unless another worker has it; null: jobs of this queue return without it. */
  readonly redeliver: ((data: Data, at: EpochMs) => Promise<void>) | null;
  /** Called when a turn threw: a Redis error or a bug. The job comes back after a pause. */
  readonly onRunError: (data: Data, error: unknown) => void;
  readonly onError: (error: Error) => void;
}

export interface TurnWorker {
  /** Takes no more jobs, and waits for running turns. After `graceMs` their calls are aborted. */
  close(graceMs: DurationMs): Promise<void>;
}

// When a daemon is killed, another one takes over its turn after the lock has expired and a check has noticed: within
// 7.5 s.
const lockDurationMs: DurationMs = 5_000;

// BullMQ never resets a job's stall counter, but a job that survives many crashes is fine: the record limits its
// attempts.
const stallsMax = 1_000_000;

const retryAfterErrorMs: DurationMs = 2_000;

/**
 * Starts a worker whose jobs take turns. A turn makes one call, and then moves the job to delayed, so that no worker
 * slot is held while the job waits.
 */
export function startTurnWorker<Data>(parts: TurnWorkerParts<Data>): TurnWorker {
  const { connection, prefix, concurrency, redeliver } = parts;
  const worker = new BackoffWorker<Data>(
    parts.queue,
    // Three parameters, because BullMQ passes the signal only to a processor that declares it.
    async (job: Job<Data>, token?: string, signal?: AbortSignal) => {
      const outcome = await runOnce(parts, job.data, signal ?? new AbortController().signal);
      if (outcome.job === 'end') return;
      // The turn's result was stored before. When the move fails, the stalled job runs again and finds it.
      await job.moveToDelayed(outcome.at, token).catch((error: unknown) => {
        if (redeliver === null || !isLockLost(error)) throw error;
        return redeliver(job.data, outcome.at);
      });
      throw new DelayedError();
    },
    {
      ...{ connection, prefix, concurrency, drainDelay: 1 },
      lockDuration: lockDurationMs,
      stalledInterval: lockDurationMs / 2,
      maxStalledCount: stallsMax,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    },
    parts.mayRun,
  );
  worker.on('error', parts.onError);
  return {
    close: async (graceMs) => {
      const closed = worker.close();
      const abort = setTimeout(() => worker.cancelAllJobs('the daemon is stopping'), graceMs);
      await closed.finally(() => clearTimeout(abort));
    },
  };
}

/** True when Redis was unreachable for longer than a lock lasts. The job now has no worker, or another one. */
function isLockLost(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === ErrorCode.JobLockNotExist || error.code === ErrorCode.JobLockMismatch;
}

async function runOnce<Data>(
  parts: TurnWorkerParts<Data>,
  data: Data,
  signal: AbortSignal,
): Promise<StepOutcome> {
  try {
    return await parts.run(data, signal);
  } catch (error) {
    parts.onRunError(data, error);
    return { job: 'comeBack', at: Date.now() + retryAfterErrorMs };
  }
}
