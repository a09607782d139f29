import { untilAborted } from '../../base/waiting.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';

/**
 * Shares long readings. Each caller gets one whose first request is sent after the call, so that the result is current.
 * Callers with the same key share the reading that has not started yet. While one is in flight, the next starts after
 * it.
 * @param read must call `onStart` right before its first request; it gets the argument of the first caller
 */
export function makeSharedReading<Wanted, Result>(
  keyOf: (wanted: Wanted) => string,
  read: (wanted: Wanted, onStart: () => void) => Promise<Answer<Result>>,
): (wanted: Wanted, signal?: AbortSignal) => Promise<Answer<Result>> {
  type Reading = Promise<Answer<Result>>;
  const notStarted = new Map<string, Reading>();
  const newest = new Map<string, Reading>();

  function begin(key: string, wanted: Wanted): Reading {
    const before = newest.get(key);
    const run = async (): Reading => {
      // Its own callers get its failure. This reading only waits for its end.
      await Promise.allSettled([before]);
      try {
        return await read(wanted, () => forget(notStarted, key, reading));
      } finally {
        forget(notStarted, key, reading);
        forget(newest, key, reading);
      }
    };
    const reading = run();
    notStarted.set(key, reading);
    newest.set(key, reading);
    return reading;
  }

  return async (wanted, signal) => {
    const key = keyOf(wanted);
    try {
      return await untilAborted(notStarted.get(key) ?? begin(key, wanted), signal);
    } catch (error) {
      if (signal?.aborted === true) return { ok: false, failure: { kind: 'cancelled', sent: false } };
      throw error;
    }
  };
}

function forget<T>(map: Map<string, T>, key: string, value: T): void {
  if (map.get(key) === value) map.delete(key);
}
