import type { Clock, EpochMs } from '../base/time.ts';

/**
 * A clock that runs `speed` times as fast as another one, from `anchor` on:
 * virtual = anchor + (real - real at start) × speed, in whole milliseconds.
 */
export function makeScaledClock(parts: {
  readonly realClock: Clock;
  readonly speed: number;
  /** The virtual instant of the start; the real one where left out. */
  readonly anchor?: EpochMs;
}): Clock {
  const realAnchor = parts.realClock.now();
  const anchor = parts.anchor ?? realAnchor;
  return { now: () => Math.floor(anchor + (parts.realClock.now() - realAnchor) * parts.speed) };
}
