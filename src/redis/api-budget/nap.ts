import type { DurationMs } from '../../base/time.ts';

export type Nap = ReturnType<typeof makeNap>;

/** One sleep at a time, which can end early. */
export function makeNap() {
  let current: { readonly wake: () => void; readonly endsWithPermit: boolean } | undefined;
  return {
    sleep: (forMs: DurationMs, endsWithPermit: boolean): Promise<void> =>
      new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          current = undefined;
          resolve();
        };
        // Rounded up, because a slot must not be used early.
        const timer = setTimeout(wake, Math.max(1, Math.ceil(forMs)));
        current = { wake, endsWithPermit };
      }),
    /** Ends a sleep that waits for a permit. */
    permitReturned: (): void => {
      if (current?.endsWithPermit === true) current.wake();
    },
    wake: (): void => current?.wake(),
  };
}
