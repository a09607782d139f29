import { setTimeout as wait } from 'node:timers/promises';
import type { DurationMs } from './time.ts';

/** Waits, and comes back early when the signal is aborted; it never throws for that. */
export type Sleep = (forMs: DurationMs, signal?: AbortSignal) => Promise<void>;

/** The machine's own timer. */
export const sleepForReal: Sleep = async (forMs, signal) => {
  const abortion = signal === undefined ? {} : { signal };
  await wait(forMs, undefined, abortion).catch((error: unknown) => {
    if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
  });
};
