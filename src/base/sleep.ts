import { setTimeout as wait } from 'node:timers/promises';
import type { DurationMs } from './time.ts';

/** Waits, and comes back early when the signal is aborted; it never throws for that. */
export type Sleep = (forMs: DurationMs, signal?: AbortSignal) => Promise<void>;

/** Node's timers hold 2^31 - 1 ms, nearly 25 days, and take anything longer for 1 ms. */
const timerMaxMs: DurationMs = 2 ** 31 - 1;

/** The machine's own timer; waits that it can't hold are made of several. */
export const sleepForReal: Sleep = async (forMs, signal) => {
  const abortion = signal === undefined ? {} : { signal };
  // Ends: each turn waits nearly 25 days of a finite time.
  for (let leftMs = forMs; ; leftMs -= timerMaxMs) {
    await wait(Math.min(leftMs, timerMaxMs), undefined, abortion).catch((error: unknown) => {
      if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
    });
    if (leftMs <= timerMaxMs || signal?.aborted === true) return;
  }
};
