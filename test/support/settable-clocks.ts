import type { Clocks } from '../../src/base/stopwatch.ts';
import type { DurationMs } from '../../src/base/time.ts';

/** The two clocks of a machine, which a test moves. */
export function settableClocks() {
  let wall = Date.UTC(2026, 10, 21, 12);
  let monotonic = 1_000;
  const clocks: Clocks = { wallNow: () => wall, monotonicNow: () => monotonic };
  return {
    clocks,
    pass: (forMs: DurationMs): void => {
      wall += forMs;
      monotonic += forMs;
    },
    /** The machine is suspended: on Linux its monotonic clock does not run meanwhile. */
    suspend: (forMs: DurationMs): void => {
      wall += forMs;
    },
    /** The wall clock is set forward, or back when negative. */
    setWall: (byMs: DurationMs): void => {
      wall += byMs;
    },
  };
}
