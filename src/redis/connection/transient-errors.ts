import type { DurationMs } from '../../base/time.ts';

export type TransientErrors = ReturnType<typeof makeTransientErrors>;

// A replica that was just promoted, a server that loads its file, a replica without its master.
const transientErrors = /^(READONLY|LOADING|MASTERDOWN)\b/;

// A cluster with a failed node. Its other nodes work, and the client retries by itself.
const clusterIsDown = /^CLUSTERDOWN\b/;

// An error within this time belongs to the same fault.
const forgetAfterMs: DurationMs = 10_000;

/**
 * Handles transient errors of one connection.
 * @param onTransient called for each, because waiting commands would otherwise go unnoticed
 */
export function makeTransientErrors(onTransient: ((error: Error) => void) | undefined) {
  let metAt = Number.NEGATIVE_INFINITY;
  let errorsInRow = 0;
  let isCounted = true;
  let isClosing = false;
  return {
    /** For ioredis: 2 reconnects, and sends the failed command again. */
    reconnectOnError: (error: Error): 2 | false => {
      if (clusterIsDown.test(error.message)) onTransient?.(error);
      if (!transientErrors.test(error.message)) return false;
      const now = performance.now();
      if (now - metAt > forgetAfterMs) errorsInRow = 0;
      metAt = now;
      isCounted = false;
      isClosing = true;
      onTransient?.(error);
      return 2;
    },
    /**
     * Backs off, but stays short: a fail-over takes seconds, and work waits meanwhile. A server that accepts the connection
     * but refuses the command resets ioredis's count of attempts, but not this one.
     * @returns how long to wait before the next attempt to connect
     */
    retryStrategy: (attempt: number): DurationMs => {
      // Many commands may get the same error on one connection.
      if (!isCounted) errorsInRow += 1;
      isCounted = true;
      if (performance.now() - metAt > forgetAfterMs) errorsInRow = 0;
      return Math.min(100 * Math.max(attempt, errorsInRow), 2_000);
    },
    /** Called once at each close. @returns true when a reconnect for a transient error caused it */
    takeOwnClose: (): boolean => {
      // On a busy machine the close may follow seconds after the error. In a cluster it may not follow at all.
      const isOwn = isClosing && performance.now() - metAt <= forgetAfterMs;
      isClosing = false;
      return isOwn;
    },
  };
}
