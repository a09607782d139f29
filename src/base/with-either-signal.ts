import { setMaxListeners } from 'node:events';

/**
 * Does work under a signal that fires, with the same reason, as soon as one of these does. Nothing of it is left when
 * the work is done, unlike what `AbortSignal.any` makes: a signal that lives as long as a daemon never lets go of those
 * that were made of it (Node 20), and a daemon waits a million times a week.
 */
export async function withEitherSignal<T>(
  signals: ReadonlyArray<AbortSignal | undefined>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const either = new AbortController();
  const given = signals.filter((signal) => signal !== undefined);
  const listeners = given.map((signal) => ({ signal, listener: () => either.abort(signal.reason) }));
  for (const { signal, listener } of listeners) {
    if (signal.aborted) listener();
    else {
      // As many as wait under it at once, and each goes when its work is done: no leak to be warned of.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', listener, { once: true });
    }
  }
  try {
    return await work(either.signal);
  } finally {
    for (const { signal, listener } of listeners) signal.removeEventListener('abort', listener);
  }
}
