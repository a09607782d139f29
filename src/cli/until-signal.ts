/** A signal that fires when the process is asked to stop (SIGINT, SIGTERM); a second request ends it at once. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => {
    // Whoever asks twice has waited long enough; what is left is settled at the next start.
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
