import type { DurationMs } from '../../base/time.ts';

/** One sleep at a time that can be cut short. */
export interface Nap {
  sleep(forMs: DurationMs, endsWithPermit: boolean): Promise<void>;
  /** Ends a sleep that waits for a permit. */
  permitReturned(): void;
  wake(): void;
}

export function makeNap(): Nap {
  let current: { readonly wake: () => void; readonly endsWithPermit: boolean } | undefined;
  return {
    sleep: (forMs, endsWithPermit) =>
      new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          current = undefined;
          resolve();
        };
        // Rounded up: a slot must not be used before its time.
        const timer = setTimeout(wake, Math.max(1, Math.ceil(forMs)));
        current = { wake, endsWithPermit };
      }),
    permitReturned: () => {
      if (current?.endsWithPermit === true) current.wake();
    },
    wake: () => current?.wake(),
  };
}
