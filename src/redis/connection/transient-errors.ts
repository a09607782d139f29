import type { DurationMs } from '../../base/time.ts';

export type TransientErrors = ReturnType<typeof makeTransientErrors>;

// A replica that was just promoted, a server that reads its file, a replica without its master.
const passingErrors = /^(READONLY|LOADING|MASTERDOWN)\b/;

// A cluster of which a node is away. Its other nodes are well, and the client asks them again by itself.
const clusterIsDown = /^CLUSTERDOWN\b/;

// Met again within this time, it is still the same fault.
const forgetAfterMs: DurationMs = 10_000;

/**
 * How one connection deals with errors that pass by themselves.
 * @param onTransient called for each: our commands wait, and nobody else would notice
 */
export function makeTransientErrors(onTransient: ((error: Error) => void) | undefined) {
  let metAt = Number.NEGATIVE_INFINITY;
  let inARow = 0;
  let isCounted = true;
  let isClosing = false;
  return {
    /** As ioredis asks: 2 reconnects, and sends the failed command again. */
    reconnectOnError: (error: Error): 2 | false => {
      if (clusterIsDown.test(error.message)) onTransient?.(error);
      if (!passingErrors.test(error.message)) return false;
      const now = performance.now();
      if (now - metAt > forgetAfterMs) inARow = 0;
      metAt = now;
      isCounted = false;
      isClosing = true;
      onTransient?.(error);
      return 2;
    },
    /**
     * Waits a little longer each time, but never long: a fail-over takes seconds, and the work waits meanwhile.
     * A server that takes the connection and refuses the command starts the count of attempts again; ours goes on.
     * @returns how long to wait before the next attempt to connect
     */
    retryStrategy: (attempt: number): DurationMs => {
      // Many commands may meet the same error on one connection.
      if (!isCounted) inARow += 1;
      isCounted = true;
      if (performance.now() - metAt > forgetAfterMs) inARow = 0;
      return Math.min(100 * Math.max(attempt, inARow), 2_000);
    },
    /** To be asked once at each close. @returns whether it is our own doing */
    takeOwnClose: (): boolean => {
      // On a busy machine it may come seconds after the error that asked for it; a cluster may not close at all for one.
      const isOwn = isClosing && performance.now() - metAt <= forgetAfterMs;
      isClosing = false;
      return isOwn;
    },
  };
}
