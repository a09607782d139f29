import type { DurationMs } from '../base/time.ts';
import { sleepForReal } from '../base/waiting.ts';
import type { BackgroundTasks } from '../orchestrator/ports/leader.ts';

// What came to nothing is asked for again by the next decision, a second later: not as often as that.
const restMsDefault: DurationMs = 5_000;

/** Runs backgroundTasks in the background of this process. */
export interface RunningErrands extends BackgroundTasks {
  /** Cuts what is on its way, and waits for its end. */
  close(): Promise<void>;
}

/** @param onError told of what an backgroundTask threw: a bug, or Redis away; it is asked for again */
export function makeBackgroundTasks(
  onError: (key: string, error: unknown) => void,
  restMs: DurationMs = restMsDefault,
): RunningErrands {
  const stopping = new AbortController();
  const running = new Map<string, Promise<void>>();

  const runOne = async (key: string, work: (signal: AbortSignal) => Promise<'done' | 'again'>) => {
    try {
      if ((await work(stopping.signal)) === 'again') await sleepForReal(restMs, stopping.signal);
    } catch (error) {
      if (!stopping.signal.aborted) onError(key, error);
      await sleepForReal(restMs, stopping.signal);
    } finally {
      running.delete(key);
    }
  };

  return {
    run: async (key, work) => {
      if (running.has(key) || stopping.signal.aborted) return;
      running.set(key, runOne(key, work));
    },
    close: async () => {
      stopping.abort();
      await Promise.all(running.values());
    },
  };
}
