import type { DurationMs, EpochMs } from '../../base/time.ts';
import { SlidingWindow } from './sliding-window.ts';

// Timers and networks are late by some milliseconds: where a client's own ticker sends every 250 ms, the fifth request may come
// this much less than a second after the first. The average has the same tolerance once, so that nobody gains by it.
const toleranceMs: DurationMs = 50;

/** Accepts a number of requests in any second, and that number as the average of any longer time. */
export class RateLimit {
  readonly #perSecond: number;
  readonly #accepted = new SlidingWindow(1_000 - toleranceMs);
  /** When all accepted requests would have come, had they come evenly. */
  #paidUntil: EpochMs = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Whether a request may come now. It does not count yet. */
  allows(now: EpochMs): boolean {
    if (this.#accepted.count(now) >= this.#perSecond) return false;
    return now >= this.#paidUntil - 1_000 + 1_000 / this.#perSecond - toleranceMs;
  }

  /** Counts an accepted request. */
  add(now: EpochMs): void {
    this.#accepted.add(now);
    this.#paidUntil = Math.max(this.#paidUntil, now) + 1_000 / this.#perSecond;
  }
}
