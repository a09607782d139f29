import type { DurationMs, EpochMs } from './time.ts';

/** The two clocks of a machine. Production reads the machine's, tests pass settable ones. */
export interface Clocks {
  /** Can be set, forward or back. */
  wallNow(): EpochMs;
  /** Is never set, but on Linux it does not run while the machine is suspended. */
  monotonicNow(): number;
}

/** Returns the time since its start. */
export type Stopwatch = () => DurationMs;

export const machineClocks: Clocks = { wallNow: () => Date.now(), monotonicNow: () => performance.now() };

// The wall clock has whole milliseconds.
const wallErrorMs: DurationMs = 1;

// Time services correct the wall clock by less without a fault. A suspension takes longer.
const correctionMaxMs: DurationMs = 250;

/**
 * Starts a stopwatch for a right that ends: to send a create, to lead. Neither clock is enough for that. The monotonic clock
 * does not count the time in which a laptop or a virtual machine is suspended, and the wall clock may be set back. The longer
 * of both times counts, so a suspension and a wrong clock end a right early, and never extend it. After the wall clock was set
 * back, the length of a suspension is unknown, and the time is infinite.
 */
export function startStopwatch(clocks: Clocks = machineClocks): Stopwatch {
  const wallStart = clocks.wallNow();
  const monotonicStart = clocks.monotonicNow();
  return () => {
    const monotonicMs = clocks.monotonicNow() - monotonicStart;
    const wallMs = clocks.wallNow() - wallStart;
    if (wallMs < monotonicMs - correctionMaxMs) return Number.POSITIVE_INFINITY;
    return Math.max(monotonicMs, wallMs - wallErrorMs);
  };
}
