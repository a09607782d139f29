import { type ConnectionOptions, ErrorCode, type Job, Queue } from 'bullmq';
import type { DurationMs, EpochMs } from '../base/time.ts';
import type { StepQueue } from '../orchestrator/ports/leader.ts';
import { type QueueNames, stepJobId } from './queue-names.ts';

/** The data of a step job: the key of its record. The record is the truth, never the job. */
export interface StepJobData {
  readonly rolloutId: string;
  readonly collectorId: number;
}

// Larger bulks block Redis for all daemons.
const bulkMax = 500;

// Each promotion needs two or more commands. Sent together they take one round trip.
const promotedAtOnce = 50;

export interface BullStepQueue extends StepQueue {
  /**
   * Redelivers a job at an instant, after its worker lost the lock and could not hand it back. BullMQ itself would
   * notice that only at its second check for stalled jobs, seconds later (P11). A job that another worker has is left
   * alone.
   */
  redeliver(data: StepJobData, at: EpochMs): Promise<void>;
  /** Counts jobs by BullMQ's own states. */
  countJobs(): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

/** Delivers one job for each admitted collector. Adding it twice adds it once. */
export function makeStepQueue(
  connection: ConnectionOptions,
  names: QueueNames,
  onError: (error: Error) => void,
): BullStepQueue {
  const queue = new Queue<StepJobData>(names.steps, { connection, prefix: names.prefix });
  queue.on('error', onError);
  const deliver = async (
    rolloutId: string,
    collectorIds: readonly number[],
    delay: DurationMs = 0,
  ): Promise<void> => {
    for (let from = 0; from < collectorIds.length; from += bulkMax) {
      const bulk = collectorIds.slice(from, from + bulkMax).map((collectorId) => ({
        name: 'step',
        data: { rolloutId, collectorId },
        opts: {
          jobId: stepJobId(rolloutId, collectorId),
          // Ended jobs are removed, so that the same collector can be delivered again.
          removeOnComplete: true,
          removeOnFail: true,
          // Creates go before polls: a new job has a free slot to fill.
          lifo: true,
          delay,
        },
      }));
      await queue.addBulk(bulk);
    }
  };
  /** Promotes a delayed job. @returns true when the job no longer exists */
  const isGone = async (jobId: string): Promise<boolean> => {
    const state = await queue.getJobState(jobId);
    const job = state === 'delayed' ? await queue.getJob(jobId) : undefined;
    if (job !== undefined) await runNow(job);
    // `unknown`: there is no job, or one in no list. Removing it first lets it be added again.
    if (state !== 'unknown') return false;
    await queue.remove(jobId);
    return true;
  };
  return {
    deliver: (rolloutId, collectorIds) => deliver(rolloutId, collectorIds),
    redeliver: async ({ rolloutId, collectorId }, at) => {
      const jobId = stepJobId(rolloutId, collectorId);
      if ((await queue.getJobState(jobId)) !== 'active') return;
      const removed = await queue.remove(jobId);
      // A locked job is not removed: another worker has just started it.
      if (removed > 0) await deliver(rolloutId, [collectorId], Math.max(0, at - Date.now()));
    },
    bringForward: async (rolloutId, collectorIds) => {
      for (let from = 0; from < collectorIds.length; from += promotedAtOnce) {
        const some = collectorIds.slice(from, from + promotedAtOnce);
        const gone = await Promise.all(some.map((id) => isGone(stepJobId(rolloutId, id))));
        await deliver(
          rolloutId,
          some.filter((_id, index) => gone[index]),
        );
      }
    },
    countJobs: () => queue.getJobCounts('waiting', 'active', 'delayed', 'failed'),
    close: () => queue.close(),
  };
}

/** Runs a delayed job now. */
export async function runNow(job: Job): Promise<void> {
  await job.promote().catch((error: unknown) => {
    const isDueAlready = error instanceof Error && 'code' in error && error.code === ErrorCode.JobNotInState;
    if (!isDueAlready) throw error;
  });
}
