import type { EventEmitter } from 'node:events';

/** A signal that fires when the process is asked to stop (SIGINT, SIGTERM); a second request ends it at once. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => {
    // Whoever asks twice has waited long enough; what remains is settled at the next start.
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

/** What is reported when the output has no reader any more. */
export interface PipeEnd {
  /** Whether somebody waits for the process to be asked to stop, and closes what it has open then. */
  readonly mayStop: () => boolean;
  readonly stop: () => void;
  readonly exit: () => void;
}

/**
 * Ends quietly when whoever reads the output has gone (`… | head`): a command that is asked to stop stops as it does
 * for a signal, any other has nothing left to do. Every other error of the output is thrown as ever.
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
