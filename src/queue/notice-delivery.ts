import { type ConnectionOptions, Queue } from 'bullmq';
import type { StepOutcome } from '../orchestrator/ports/leader.ts';
import type { NoticeQueue } from '../orchestrator/ports/notifications.ts';
import { runNow } from './bullmq-step-queue.ts';
import type { QueueNames } from './queue-names.ts';
import { startTurnWorker, type TurnWorker } from './turn-worker.ts';

interface NoticeJobData {
  readonly receiver: string;
}

export interface BullNoticeQueue extends NoticeQueue {
  close(): Promise<void>;
}

/** Keeps one job for each receiver with pending messages. Adding an existing job wakes it. */
export function makeNoticeQueue(
  connection: ConnectionOptions,
  names: QueueNames,
  onError: (error: Error) => void,
): BullNoticeQueue {
  const queue = new Queue<NoticeJobData>(names.notices, { connection, prefix: names.prefix });
  queue.on('error', onError);
  const wake = async (receiver: string): Promise<void> => {
    // A receiver's name may be a number, which BullMQ reserves for its own ids.
    const jobId = `to.${receiver}`;
    await queue.add('deliver', { receiver }, { jobId, removeOnComplete: true, removeOnFail: true });
    const job = await queue.getJob(jobId);
    // Urgent messages do not wait for the end of quiet hours. A job that is not delayed is running or due.
    if (job !== undefined && (await job.getState()) === 'delayed') await runNow(job);
  };
  return {
    wake: async (receivers) => {
      for (const receiver of receivers) await wake(receiver);
    },
    close: () => queue.close(),
  };
}

export interface NoticeWorkerParts {
  readonly connection: ConnectionOptions;
  readonly names: QueueNames;
  readonly deliver: (receiver: string, signal: AbortSignal) => Promise<StepOutcome>;
  /** Called when a delivery threw: a Redis error or a bug. The job comes back after a pause. */
  readonly onDeliverError: (error: unknown) => void;
  readonly onError: (error: Error) => void;
}

// So that a slow receiver does not delay the others.
const receiversAtOnce = 10;

/** Starts the worker that delivers messages, one a turn. A receiver's job runs in one place at a time. */
export function startNoticeWorker(parts: NoticeWorkerParts): TurnWorker {
  const { connection, names, deliver, onDeliverError, onError } = parts;
  return startTurnWorker<NoticeJobData>({
    ...{ connection, prefix: names.prefix, queue: names.notices, concurrency: receiversAtOnce, onError },
    run: ({ receiver }, signal) => deliver(receiver, signal),
    // A notification is due whatever the clock says, and its queue is woken again and again.
    mayRun: () => true,
    redeliver: null,
    onRunError: (_job, error) => onDeliverError(error),
  });
}
