import type { EpochMs } from '../../base/time.ts';
import { makeTimeline } from '../../base/timeline.ts';
import type { StepQueue } from '../../orchestrator/ports/leader.ts';

/** The step job of one upgrade. */
export interface Job {
  readonly rolloutId: string;
  readonly collectorId: number;
}

/** The queue of step jobs, by the instant at which each upgrade's next step is due. */
export function makeJobs(now: () => EpochMs) {
  const timeline = makeTimeline<Job>();
  const delivered = new Set<string>();
  const keyOf = ({ rolloutId, collectorId }: Job) => `${rolloutId}/${collectorId}`;
  const deliver = async (rolloutId: string, ids: readonly number[]): Promise<void> => {
    for (const collectorId of ids) {
      const job = { rolloutId, collectorId };
      if (!delivered.has(keyOf(job))) timeline.put(now(), job);
      delivered.add(keyOf(job));
    }
  };
  return {
    queue: { deliver, bringForward: deliver } satisfies StepQueue,
    /** The first job, which stays in the queue; undefined when it is empty. */
    first: timeline.first,
    /** Removes the first job. */
    take: timeline.dropFirst,
    /** Puts a removed job back at this instant; undefined: drops it. */
    settle: (job: Job, at: EpochMs | undefined): void => {
      if (at === undefined) delivered.delete(keyOf(job));
      else timeline.put(at, job);
    },
  };
}
