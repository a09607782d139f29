/**
 * Waits for something that no signal reaches: it goes on when this wait is given up, and how it then ends is nobody's
 * concern.
 * @throws the signal's reason when it is aborted first
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  let stop = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    // Work takes part also under a signal that was aborted before: its failure must not be one without a listener.
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
