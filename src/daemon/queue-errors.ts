import type { Clock, DurationMs } from '../base/time.ts';
import type { Logger } from '../observability/logger.ts';

// A lasting problem is met again and again, but reported only now and then.
const reportEveryMs: DurationMs = 10_000;

export interface QueueErrorsParts {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Remembers that Redis refuses writes. @returns true for an error of this kind, which is reported elsewhere */
  readonly learnRefusal: (error: Error) => boolean;
}

/**
 * Reports errors of the queue. That Redis is unreachable or refuses writes is reported elsewhere, so here it is only
 * for debugging. Any other refusal by Redis delays work and would otherwise stay unnoticed.
 */
export function makeQueueErrorReporter(parts: QueueErrorsParts): (error: Error) => void {
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
