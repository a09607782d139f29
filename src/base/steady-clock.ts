import { type Clocks, machineClocks } from './stopwatch.ts';
import type { Clock, DurationMs, EpochMs } from './time.ts';

/** Hosts that keep their time by NTP differ by milliseconds, and deadlines of upgrades are minutes. */
export const clocksDifferMs: DurationMs = 10_000;

export interface SteadyClock extends Clock {
  /** The wall clock as it is, for a comparison with another one. */
  wallNow(): EpochMs;
  /** True after the wall clock has jumped, until the jump is confirmed or taken back. */
  hasJumped(): boolean;
  /** The wall clock is right. Follows it from now on. */
  confirm(): void;
}

/**
 * The wall clock, without its jumps: a clock that somebody sets an hour forward makes every deadline pass. After a jump, time
 * goes on by the monotonic clock, until another clock confirms the jump. A suspension looks like a jump, too.
 */
export function makeSteadyClock(clocks: Clocks = machineClocks): SteadyClock {
  const wallAheadNow = (): DurationMs => clocks.wallNow() - clocks.monotonicNow();
  let wallAheadMs = wallAheadNow();
  const hasJumped = (): boolean => Math.abs(wallAheadNow() - wallAheadMs) > clocksDifferMs;
  return {
    now: () => (hasJumped() ? Math.round(clocks.monotonicNow() + wallAheadMs) : clocks.wallNow()),
    wallNow: clocks.wallNow,
    hasJumped,
    confirm: () => {
      wallAheadMs = wallAheadNow();
    },
  };
}
