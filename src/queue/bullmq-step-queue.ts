import { type ConnectionOptions, Queue } from 'bullmq';
import type { StepQueue } from '../orchestrator/ports.ts';
import { type QueueNames, stepJobId } from './queue-names.ts';

/** What a step job carries: which record to look at. The truth is in the record, never here. */
export interface StepJobData {
  readonly rolloutId: string;
  readonly collectorId: number;
}

// addBulk in thousands at most: larger ones block Redis for all daemons.
const bulkMax = 500;

export interface BullStepQueue extends StepQueue {
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
  return {
    deliver: async (rolloutId, collectorIds) => {
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
          },
        }));
        await queue.addBulk(bulk);
      }
    },
    countJobs: () => queue.getJobCounts('waiting', 'active', 'delayed', 'failed'),
    close: () => queue.close(),
  };
}
