import type { Clock, DurationMs } from '../base/time.ts';
import type { Logger } from '../observability/logger.ts';

// A Redis without memory or disk refuses a thousand times a second; a person needs to read it now and then.
const tellEveryMs: DurationMs = 10_000;

/**
 * What the queue complains of. That Redis is away its connection tells, so that is for those who look closely; but
 * what Redis refuses while it is there (no memory, no disk) nobody else may notice, and work stands still meanwhile.
 */
export function makeQueueComplaints(logger: Logger, clock: Clock): (error: Error) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (error.name !== 'ReplyError') {
      logger.write('debug', { event: 'queue.failed', error });
      return;
    }
    const now = clock.now();
    if (now - toldAt < tellEveryMs) return;
    toldAt = now;
    logger.write('error', { event: 'queue.refused', error });
  };
}
