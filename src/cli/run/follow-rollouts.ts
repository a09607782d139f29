import { sleepForReal } from '../../base/waiting.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { Operations } from '../../orchestrator/operations/operations.ts';
import { isRedisOutage } from '../../redis/connection/redis-errors.ts';
import { restOf } from './idle-reason.ts';
import type { Progress } from './progress.ts';

type Reader = Pick<Operations, 'rolloutStatus'>;

const checkEveryMs = 250;

// Between two admissions it can look for a moment as if only collectors with a closed window remained.
const windowRestMs = 5_000;

/** Shows progress until every rollout is at rest. It also follows rollbacks that start meanwhile. */
export async function followRollouts(
  operations: Reader,
  rolloutIds: readonly string[],
  progress: Progress,
  { wait }: { readonly wait: boolean },
  stop: AbortSignal,
): Promise<readonly RolloutStatus[]> {
  let statuses: readonly RolloutStatus[] = [];
  let movedAt = Date.now();
  try {
    while (!stop.aborted) {
      statuses = (await readWithRollbacks(operations, rolloutIds)) ?? statuses;
      const now = Date.now();
      progress.show(statuses, now);
      const rests = statuses.map((status) => restOf(status, statuses, now));
      const isSeen = statuses.length >= rolloutIds.length;
      if (isSeen && rests.every((rest) => rest !== undefined && rest.kind !== 'windowClosed')) break;
      const isStill = isSeen && !wait && rests.every((rest) => rest !== undefined);
      if (!isStill) movedAt = now;
      if (now - movedAt >= windowRestMs) break;
      await sleepForReal(checkEveryMs, stop);
    }
  } finally {
    progress.stop();
  }
  return statuses;
}

/** These rollouts and their rollbacks; undefined while Redis is unavailable. */
async function readWithRollbacks(
  operations: Reader,
  rolloutIds: readonly string[],
): Promise<readonly RolloutStatus[] | undefined> {
  const seen = await Promise.all(rolloutIds.map((id) => statusOf(operations, id)));
  if (!seen.every((status) => status !== undefined)) return undefined;
  const rollbackIds = seen.flatMap(({ rollbackId }) => (rollbackId === null ? [] : [rollbackId]));
  const rollbacks = await Promise.all(rollbackIds.map((id) => statusOf(operations, id)));
  // A rollback that is named but not planned yet is checked again. Until then its rollout is not at rest.
  return [...seen, ...rollbacks.filter((status) => status !== undefined)];
}

/** undefined while Redis is unavailable: the next check tries again. @throws any other error, because waiting would not help */
async function statusOf(operations: Reader, rolloutId: string): Promise<RolloutStatus | undefined> {
  try {
    return await operations.rolloutStatus(rolloutId);
  } catch (error) {
    if (!isRedisOutage(error)) throw error;
    return undefined;
  }
}
