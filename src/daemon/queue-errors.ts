import type { Clock, DurationMs } from '../base/time.ts';
import type { Logger } from '../observability/logger.ts';

// What goes on is met again and again; a person needs to read it now and then.
const reportEveryMs: DurationMs = 10_000;

export interface QueueErrorsParts {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Keeps in mind that Redis refuses writes. @returns whether this error says so, which is reported already then */
  readonly learnRefusal: (error: Error) => boolean;
}

/**
 * What the queue complains of. Others report that Redis is away or takes no writes, so that is for those who look
 * closely; but what else Redis refuses while it is there nobody may notice, and work waits meanwhile.
 */
export function makeQueueComplaints(parts: QueueErrorsParts): (error: Error) => void {
  const { logger, clock, learnRefusal } = parts;
  let reportedAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (learnRefusal(error) || error.name !== 'ReplyError') {
      logger.write('debug', { event: 'queue.failed', error });
      return;
    }
    const now = clock.now();
    if (now - reportedAt < reportEveryMs) return;
    reportedAt = now;
    logger.write('error', { event: 'queue.refused', error });
  };
}
