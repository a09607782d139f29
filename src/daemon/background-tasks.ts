import type { DurationMs } from '../base/time.ts';
import { sleepForReal } from '../base/waiting.ts';
import type { BackgroundTasks } from '../orchestrator/ports/leader.ts';

// The next decision, a second later, starts a failed task again. That would be too often.
const retryAfterMs: DurationMs = 5_000;

/** Background tasks in this process. */
export interface RunningBackgroundTasks extends BackgroundTasks {
  /** Stops the running tasks, and waits for their end. */
  close(): Promise<void>;
}

/** @param onError receives what a task throws: a bug, or an unreachable Redis. The loops start the task again */
export function makeBackgroundTasks(onError: (key: string, error: unknown) => void): RunningBackgroundTasks {
  const stopping = new AbortController();
  const running = new Map<string, Promise<void>>();

  const runOne = async (key: string, work: (signal: AbortSignal) => Promise<'done' | 'again'>) => {
    try {
      if ((await work(stopping.signal)) === 'again') await sleepForReal(retryAfterMs, stopping.signal);
    } catch (error) {
      if (!stopping.signal.aborted) onError(key, error);
      await sleepForReal(retryAfterMs, stopping.signal);
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
