/** Turns rings into signals: each call of `next` gives one that fires at the first ring after the call. */
export interface RingSignal {
  ring(): void;
  next(): AbortSignal;
}

/** Makes a latch for a loop that wants to know whether anyone rang since it last looked. */
export function makeRingSignal(): RingSignal {
  let controller = new AbortController();
  return {
    ring: () => controller.abort(),
    next: () => {
      if (controller.signal.aborted) controller = new AbortController();
      return controller.signal;
    },
  };
}
