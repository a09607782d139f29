import { type ConnectionOptions, DelayedError, ErrorCode, type Job } from 'bullmq';
import type { DurationMs, EpochMs } from '../base/time.ts';
import type { StepOutcome } from '../orchestrator/ports/leader.ts';
import { BackoffWorker } from './backoff-worker.ts';

export interface TurnWorkerParts<Data> {
  readonly connection: ConnectionOptions;
  readonly prefix: string;
  readonly queue: string;
  readonly concurrency: number;
  readonly run: (data: Data, signal: AbortSignal) => Promise<StepOutcome>;
  /** Delivers a job again at an instant, unless somebody else has it. */
  readonly bringBack?: (data: Data, at: EpochMs) => Promise<void>;
  /** A turn threw: Redis or a bug. The job comes back after a pause. */
  readonly onRunError: (data: Data, error: unknown) => void;
  readonly onError: (error: Error) => void;
}

export interface TurnWorker {
  /** Takes no more jobs, and lets running turns end; after `graceMs` their calls are aborted. */
  close(graceMs: DurationMs): Promise<void>;
}

// A turn whose daemon is killed is taken up by another one after the lock has run out and was noticed: within 7.5 s.
const lockDurationMs: DurationMs = 5_000;

// The counter of stalls is never reset, and a job that lives through many crashes is still no poison: the record
// bounds everything.
const stallsMax = 1_000_000;

const comeBackAfterErrorMs: DurationMs = 2_000;

/** Starts a worker whose jobs take turns: one call each, then the job moves itself to delayed, so no worker waits. */
export function startTurnWorker<Data>(parts: TurnWorkerParts<Data>): TurnWorker {
  const { connection, prefix, concurrency, bringBack } = parts;
  const worker = new BackoffWorker<Data>(
    parts.queue,
    // Three parameters: BullMQ passes the signal only to a processor that declares it.
    async (job: Job<Data>, token?: string, signal?: AbortSignal) => {
      const outcome = await runOnce(parts, job.data, signal ?? new AbortController().signal);
      if (outcome.job === 'end') return;
      // What the turn did was stored before this line; when the move fails, the stalled job runs again and finds it.
      await job.moveToDelayed(outcome.at, token).catch((error: unknown) => {
        if (bringBack === undefined || !isLockLost(error)) throw error;
        return bringBack(job.data, outcome.at);
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

/** Redis was away for longer than a lock lasts, so the job is nobody's, or another worker's by now. */
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
    return { job: 'comeBack', at: Date.now() + comeBackAfterErrorMs };
  }
}
