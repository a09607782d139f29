import { type ConnectionOptions, DelayedError, ErrorCode, type Job, Queue } from 'bullmq';
import type { DurationMs } from '../base/time.ts';
import type { StepOutcome } from '../orchestrator/ports/leader.ts';
import type { NoticeQueue } from '../orchestrator/ports/notifications.ts';
import { CalmWorker } from './backoff-worker.ts';
import type { QueueNames } from './queue-names.ts';

interface NoticeJobData {
  readonly receiver: string;
}

export interface BullNoticeQueue extends NoticeQueue {
  close(): Promise<void>;
}

/** One job for each receiver for whom something waits; while it is there, adding it again wakes it. */
export function makeNoticeQueue(
  connection: ConnectionOptions,
  names: QueueNames,
  onError: (error: Error) => void,
): BullNoticeQueue {
  const queue = new Queue<NoticeJobData>(names.notices, { connection, prefix: names.prefix });
  queue.on('error', onError);
  const wake = async (receiver: string): Promise<void> => {
    // A name may be a number, which BullMQ takes for its own.
    const jobId = `to.${receiver}`;
    await queue.add('deliver', { receiver }, { jobId, removeOnComplete: true, removeOnFail: true });
    const job = await queue.getJob(jobId);
    // What needs a person must not wait for the end of quiet hours. It is running, or due, where it is not delayed.
    if ((await job?.getState()) === 'delayed') await job?.promote().catch(ignoreUndelayed);
  };
  return {
    wake: async (receivers) => {
      for (const receiver of receivers) await wake(receiver);
    },
    close: () => queue.close(),
  };
}

function ignoreUndelayed(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === ErrorCode.JobNotInState)) throw error;
}

export interface NoticeWorkerParts {
  readonly connection: ConnectionOptions;
  readonly names: QueueNames;
  readonly deliver: (receiver: string, signal: AbortSignal) => Promise<StepOutcome>;
  /** Redis, or a bug; the job comes back after a pause. */
  readonly onDeliverError: (error: unknown) => void;
  readonly onError: (error: Error) => void;
}

// A message that is being sent when its daemon is killed is sent again by another one after this time and its half.
const lockDurationMs: DurationMs = 5_000;

const comeBackAfterErrorMs: DurationMs = 2_000;

// A receiver that answers slowly keeps no other one waiting.
const receiversAtOnce = 10;

// The counter of stalls is never reset; a receiver's job may live for weeks.
const stallsMax = 1_000_000;

/** Starts the worker that delivers messages: one a turn, and one receiver's job is in one place at a time. */
export function startNoticeWorker(parts: NoticeWorkerParts): { close(graceMs: DurationMs): Promise<void> } {
  const worker = new CalmWorker<NoticeJobData>(
    parts.names.notices,
    async (job: Job<NoticeJobData>, token?: string, signal?: AbortSignal) => {
      const outcome = await deliverOnce(parts, job.data.receiver, signal ?? new AbortController().signal);
      if (outcome.job === 'end') return;
      await job.moveToDelayed(outcome.at, token);
      throw new DelayedError();
    },
    {
      connection: parts.connection,
      prefix: parts.names.prefix,
      concurrency: receiversAtOnce,
      lockDuration: lockDurationMs,
      stalledInterval: lockDurationMs / 2,
      maxStalledCount: stallsMax,
      drainDelay: 1,
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

async function deliverOnce(
  { deliver, onDeliverError }: NoticeWorkerParts,
  receiver: string,
  signal: AbortSignal,
): Promise<StepOutcome> {
  try {
    return await deliver(receiver, signal);
  } catch (error) {
    onDeliverError(error);
    return { job: 'comeBack', at: Date.now() + comeBackAfterErrorMs };
  }
}
