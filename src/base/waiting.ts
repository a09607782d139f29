import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { DurationMs } from './time.ts';

/** Waits. Returns early when the signal is aborted, without an error. */
export type Sleep = (forMs: DurationMs, signal?: AbortSignal) => Promise<void>;

/** Node's timers hold 2^31 - 1 ms, nearly 25 days. A longer time fires at once. */
const timerMaxMs: DurationMs = 2 ** 31 - 1;

/** Sleeps with Node's timers. A longer wait is made of several. */
export const sleepForReal: Sleep = async (forMs, signal) => {
  const abortion = signal === undefined ? {} : { signal };
  for (let leftMs = forMs; ; leftMs -= timerMaxMs) {
    await wait(Math.min(leftMs, timerMaxMs), undefined, abortion).catch((error: unknown) => {
      if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
    });
    if (leftMs <= timerMaxMs || signal?.aborted === true) return;
  }
};

/**
 * Does work under a signal that fires, with the same reason, as soon as one of these does. It does not use
 * `AbortSignal.any`: in Node 20 a long-lived signal never releases the signals derived from it, and a daemon waits a
 * million times a week.
 */
export async function withEitherSignal<T>(
  signals: ReadonlyArray<AbortSignal | undefined>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const either = new AbortController();
  const present = signals.filter((signal) => signal !== undefined);
  const listeners = present.map((signal) => ({ signal, listener: () => either.abort(signal.reason) }));
  for (const { signal, listener } of listeners) {
    if (signal.aborted) listener();
    else {
      // Many waits share the signal and remove their listeners afterwards, so Node's warning of a leak would be wrong.
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

/**
 * Waits for work, but no longer than this. Work that takes longer continues, and its result is ignored.
 * @returns the result; undefined when the time is over
 * @throws what the work throws in time
 */
export async function waitAtMost<T>(forMs: DurationMs, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), forMs);
  });
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Thrown when work takes longer than it may. */
export class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
}

/** Like `waitAtMost`, but work that takes longer is an error. @throws TookTooLong */
export async function inTime<T>(forMs: DurationMs, work: Promise<T>): Promise<T> {
  const done = await waitAtMost(
    forMs,
    work.then((value) => ({ value })),
  );
  if (done === undefined) throw new TookTooLong(`no answer within ${forMs / 1_000} s`);
  return done.value;
}

/**
 * Waits for a promise that no signal can stop. When the wait is aborted, the promise's result is ignored.
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
    // Racing also adds a listener to the promise under an aborted signal: an unhandled rejection would end the process.
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
