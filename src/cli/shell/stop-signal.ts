import type { EventEmitter } from 'node:events';

/** A signal that fires when the process is asked to stop (SIGINT, SIGTERM); a second request ends it at once. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => {
    // A second signal means that the operator has waited long enough. The next start settles the remaining work.
    if (controller.signal.aborted) process.exit(130);
    controller.abort();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return controller.signal;
}

/** Waits until the signal fires. */
export function untilFired(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** The error code of an output without a reader. */
export interface PipeEnd {
  /** Whether the command handles the stop signal, and closes its resources then. */
  readonly mayStop: () => boolean;
  readonly stop: () => void;
  readonly exit: () => void;
}

/**
 * Ends quietly when the reader of the output has gone (`… | head`). A command that handles the stop signal stops as for a
 * signal; any other command has nothing left to do. Every other output error is thrown as usual.
 */
export function endOnBrokenPipe(streams: readonly EventEmitter[], { mayStop, stop, exit }: PipeEnd): void {
  let isStopping = false;
  const onError = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE') throw error;
    if (!mayStop()) exit();
    else if (!isStopping) {
      isStopping = true;
      stop();
    }
  };
  for (const stream of streams) stream.on('error', onError);
}
