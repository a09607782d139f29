import type { DurationMs, EpochMs } from '../../base/time.ts';

/** Counts what happened in the last stretch of time, strictly: no instant may have too much behind it. */
export class SlidingWindow {
  readonly #lengthMs: DurationMs;
  #instants: EpochMs[] = [];
  /** Entries before it have left the window; they are dropped in bulk. */
  #first = 0;

  constructor(lengthMs: DurationMs) {
    this.#lengthMs = lengthMs;
  }

  add(now: EpochMs): void {
    // Also drops what has left the window, so that it stays small when nobody counts.
    this.count(now);
    this.#instants.push(now);
  }

  /** How many lie in `(now - length, now]`. */
  count(now: EpochMs): number {
    while ((this.#instants[this.#first] ?? Infinity) <= now - this.#lengthMs) this.#first++;
    if (this.#first > 1_000) {
      this.#instants = this.#instants.slice(this.#first);
      this.#first = 0;
    }
    return this.#instants.length - this.#first;
  }
}
