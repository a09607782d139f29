import type { DurationMs } from '../base/time.ts';
import { sleepForReal } from '../base/waiting.ts';
import type { BackgroundTasks } from '../orchestrator/ports/leader.ts';

// The next decision, a second later, asks again for a task that failed. That is too often.
const restMs: DurationMs = 5_000;

/** Runs background tasks in this process. */
export interface RunningBackgroundTasks extends BackgroundTasks {
  /** Stops the tasks that run, and waits for their end. */
  close(): Promise<void>;
}

/** @param onError receives what a task threw: a bug, or Redis is away. The task is asked for again */
export function makeBackgroundTasks(onError: (key: string, error: unknown) => void): RunningBackgroundTasks {
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
