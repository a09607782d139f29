import { type ConnectionOptions, DelayedError, ErrorCode, type Job } from 'bullmq';
import type { DurationMs, EpochMs } from '../base/time.ts';
import type { StepOutcome } from '../orchestrator/ports/leader.ts';
import { CalmWorker } from './backoff-worker.ts';
import type { StepJobData } from './bullmq-step-queue.ts';
import type { QueueNames } from './queue-names.ts';

export interface StepWorkerParts {
  readonly connection: ConnectionOptions;
  readonly names: QueueNames;
  readonly concurrency: number;
  readonly runStep: (data: StepJobData, signal: AbortSignal) => Promise<StepOutcome>;
  /** Delivers a job again at an instant, unless somebody else has it. */
  readonly bringBack: (data: StepJobData, at: EpochMs) => Promise<void>;
  /** A step threw: Redis or a bug. The job comes back after a pause. */
  readonly onStepError: (data: StepJobData, error: unknown) => void;
  readonly onError: (error: Error) => void;
}

export interface StepWorker {
  /** Takes no more jobs, and lets running steps end; after `graceMs` their calls are aborted. */
  close(graceMs: DurationMs): Promise<void>;
}

// A step killed in its call is taken up by another daemon after the lock has run out and was noticed: within 7.5 s.
const lockDurationMs: DurationMs = 5_000;
const stalledIntervalMs: DurationMs = 2_500;

// The counter of stalls is never reset, and a step that lives through many crashes is still no poison: the record
// bounds everything.
const stallsMax = 1_000_000;

const comeBackAfterErrorMs: DurationMs = 2_000;

/** Starts the worker that runs due steps: one call each, then the job moves itself to delayed, so no worker waits. */
export function startStepWorker(parts: StepWorkerParts): StepWorker {
  const worker = new CalmWorker<StepJobData>(
    parts.names.steps,
    // Three parameters: BullMQ passes the signal only to a processor that declares it.
    async (job: Job<StepJobData>, token?: string, signal?: AbortSignal) => {
      const outcome = await runOnce(parts, job, signal ?? new AbortController().signal);
      if (outcome.job === 'end') return;
      // The record was stored before this line; when the move fails, the stalled job runs again and finds it.
      await job.moveToDelayed(outcome.at, token).catch((error: unknown) => {
        if (!isLockLost(error)) throw error;
        return parts.bringBack(job.data, outcome.at);
      });
      throw new DelayedError();
    },
    {
      connection: parts.connection,
      prefix: parts.names.prefix,
      concurrency: parts.concurrency,
      lockDuration: lockDurationMs,
      stalledInterval: stalledIntervalMs,
      maxStalledCount: stallsMax,
      drainDelay: 1,
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

async function runOnce(
  parts: StepWorkerParts,
  job: Job<StepJobData>,
  signal: AbortSignal,
): Promise<StepOutcome> {
  try {
    return await parts.runStep(job.data, signal);
  } catch (error) {
    parts.onStepError(job.data, error);
    return { job: 'comeBack', at: Date.now() + comeBackAfterErrorMs };
  }
}
