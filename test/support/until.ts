import { setTimeout as wait } from 'node:timers/promises';

// Often at first, and rarely in a long wait, because each check takes CPU time from the process under test.
const lookEveryMsMin = 5;
const lookEveryMsMax = 50;

/**
 * Checks the condition until it returns a value, and returns this value.
 * @param what in words that complete "waited for"; a function is asked once the wait is over
 * @throws when it takes longer than `withinMs`, which is a bound for a hang and no measure of speed
 */
export async function until<T>(
  what: string | (() => string),
  condition: () => T | Promise<T>,
  withinMs = 100_000,
): Promise<Exclude<T, undefined | null | false>> {
  const since = performance.now();
  const settled = new AbortController();
  // A check may hang itself, as a command to a Redis that never comes back does.
  const tooLate = wait(withinMs, 'too late' as const, { signal: settled.signal }).catch(
    () => 'too late' as const,
  );
  try {
    while (true) {
      const last = await Promise.race([condition(), tooLate]);
      if (last === 'too late') {
        throw new Error(`waited ${withinMs} ms in vain for ${typeof what === 'string' ? what : what()}`);
      }
      if (last !== undefined && last !== null && last !== false) {
        return last as Exclude<T, undefined | null | false>;
      }
      await wait(Math.min(lookEveryMsMax, lookEveryMsMin + (performance.now() - since) / 40));
    }
  } finally {
    settled.abort();
  }
}
