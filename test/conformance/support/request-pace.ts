import { setTimeout as wait } from 'node:timers/promises';

// A little below the documented 4 requests a second (collector-api.md §8), since others use the account too.
const spacingMs = 300;

/** Spaces requests to a service that is not ours. */
export interface RequestPace {
  /** Resolves when the next request may leave. */
  turn(): Promise<void>;
  /** How often an answer of 429 is asked again. */
  readonly retriesMax: number;
  /** Waits after an answer of 429. */
  rest(retryAfter: string | undefined): Promise<void>;
}

/** A service of our own needs no pace, and a 429 of it is what a test wants to see. */
export const unpaced: RequestPace = { turn: async () => {}, retriesMax: 0, rest: async () => {} };

export function makePolitePace(): RequestPace {
  // The file before this one may have sent its last request just now.
  let nextAt = performance.now() + spacingMs;
  return {
    retriesMax: 6,
    turn: async () => {
      const at = Math.max(performance.now(), nextAt);
      nextAt = at + spacingMs;
      await wait(at - performance.now());
    },
    rest: async (retryAfter) => {
      const seconds = Number(retryAfter ?? '5');
      await wait((Number.isFinite(seconds) ? Math.min(seconds, 60) : 5) * 1_000);
    },
  };
}
