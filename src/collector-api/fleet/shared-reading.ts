import { untilAborted } from '../../base/waiting.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';

/**
 * Shares one long reading: each caller gets one whose first request leaves after the call, so that it shows what is
 * true now. Callers share the one that has not left yet; while one is on its way, the next starts after it.
 * @param read must call `onStart` right before its first request leaves
 */
export function makeSharedReading<T>(
  read: (onStart: () => void) => Promise<Answer<T>>,
): (signal?: AbortSignal) => Promise<Answer<T>> {
  let notStarted: Promise<Answer<T>> | undefined;
  let newest: Promise<Answer<T>> | undefined;

  function begin(): Promise<Answer<T>> {
    const before = newest;
    const run = async (): Promise<Answer<T>> => {
      // Its own callers hear of its failure; this one only waits for its end.
      await Promise.allSettled([before]);
      const started = () => {
        if (notStarted === reading) notStarted = undefined;
      };
      try {
        return await read(started);
      } finally {
        started();
        if (newest === reading) newest = undefined;
      }
    };
    const reading = run();
    notStarted = reading;
    newest = reading;
    return reading;
  }

  return async (signal) => {
    try {
      return await untilAborted(notStarted ?? begin(), signal);
    } catch (error) {
      if (signal?.aborted === true) return { ok: false, failure: { kind: 'cancelled', sent: false } };
      throw error;
    }
  };
}
