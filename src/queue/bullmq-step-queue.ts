import { type ConnectionOptions, ErrorCode, type Job, Queue } from 'bullmq';
import type { DurationMs, EpochMs } from '../base/time.ts';
import type { StepQueue } from '../orchestrator/ports/leader.ts';
import { type QueueNames, stepJobId } from './queue-names.ts';

/** What a step job carries: which record to look at. The truth is in the record, never here. */
export interface StepJobData {
  readonly rolloutId: string;
  readonly collectorId: number;
}

// addBulk in thousands at most: larger ones block Redis for all daemons.
const bulkMax = 500;

// Each takes two commands and more; side by side they take one round trip.
const hastenedAtOnce = 50;

export interface BullStepQueue extends StepQueue {
  /**
   * Delivers a job again, to be run at an instant, that its worker could not hand back since its lock had run out: BullMQ
   * itself would see so with its second look for stalled jobs, seconds later (P11). Leaves one alone that somebody has.
   */
  bringBack(data: StepJobData, at: EpochMs): Promise<void>;
  /** How many jobs there are, by BullMQ's own states. */
  countJobs(): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

/** Delivers one job for each admitted collector; adding it twice adds it once. */
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
          // An ended job leaves nothing behind, so that the same collector can be delivered again.
          removeOnComplete: true,
          removeOnFail: true,
          // Creates go before looks: a job that is new has a free slot to fill.
          lifo: true,
          delay,
        },
      }));
      await queue.addBulk(bulk);
    }
  };
  /** Runs a job that waits for its instant now. @returns true when there is none any more */
  const isGone = async (jobId: string): Promise<boolean> => {
    const state = await queue.getJobState(jobId);
    const job = state === 'delayed' ? await queue.getJob(jobId) : undefined;
    if (job !== undefined) await runNow(job);
    // `unknown`: no job, or one that is in no list any more, which adding it again would not bring back.
    if (state !== 'unknown') return false;
    await queue.remove(jobId);
    return true;
  };
  return {
    deliver: (rolloutId, collectorIds) => deliver(rolloutId, collectorIds),
    bringBack: async ({ rolloutId, collectorId }, at) => {
      const jobId = stepJobId(rolloutId, collectorId);
      if ((await queue.getJobState(jobId)) !== 'active') return;
      const removed = await queue.remove(jobId);
      // A job that is locked is not removed: another worker has just started it.
      if (removed > 0) await deliver(rolloutId, [collectorId], Math.max(0, at - Date.now()));
    },
    bringForward: async (rolloutId, collectorIds) => {
      for (let from = 0; from < collectorIds.length; from += hastenedAtOnce) {
        const some = collectorIds.slice(from, from + hastenedAtOnce);
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

/** Runs a job that waits for its instant now. */
export async function runNow(job: Job): Promise<void> {
  await job.promote().catch((error: unknown) => {
    // Its instant came meanwhile.
    const isDue = error instanceof Error && 'code' in error && error.code === ErrorCode.JobNotInState;
    if (!isDue) throw error;
  });
}
