import type { DurationMs } from '../base/time.ts';
import { waitAtMost } from '../base/waiting.ts';

/** `cut`: the work ended when the connections to Redis were closed. `late`: it has not ended, and is abandoned. */
export type WorkEnd = 'done' | 'cut' | 'late';

// In any case longer than calls in flight may take, with their steps after them.
const endWithinMs: DurationMs = 7_000;

// Without Redis no result can be stored. A connection that is only being reopened is back within this time.
const awayMaxMs: DurationMs = 2_000;

// Work that fails ends at once, or after a short wait of its own.
const cutEndsWithinMs: DurationMs = 1_000;

/**
 * Waits for work to end, but only for a limited time. The next start continues from what Redis has (P11): a create whose
 * answer was not stored is in doubt.
 * @throws what the work threw, unless it was cut
 */
export async function finishWork({
  work,
  isRedisReady,
  cutRedis,
}: {
  readonly work: Promise<void>;
  readonly isRedisReady: boolean;
  /** Closes the connections to Redis, so that everything that waits for it fails. */
  readonly cutRedis: () => Promise<void>;
}): Promise<WorkEnd> {
  const isDone = () => true;
  if (await waitAtMost(isRedisReady ? endWithinMs : awayMaxMs, work.then(isDone))) return 'done';
  await cutRedis();
  return (await waitAtMost(cutEndsWithinMs, work.then(isDone, isDone))) ? 'cut' : 'late';
}

/** Describes how a daemon's work ended. */
export function describeEnd(end: WorkEnd): string {
  if (end === 'done') return 'all parts are closed';
  const parts = end === 'cut' ? 'all parts are closed' : 'not all parts have ended';
  return `${parts}; some work took too long, so the next start continues it`;
}
