import type { DurationMs, EpochMs } from '../../base/time.ts';

/** Counts events in a sliding window of time, exactly. */
export class SlidingWindow {
  readonly #lengthMs: DurationMs;
  #instants: EpochMs[] = [];
  /** The index of the first entry in the window. Older ones are dropped in bulk. */
  #first = 0;

  constructor(lengthMs: DurationMs) {
    this.#lengthMs = lengthMs;
  }

  add(now: EpochMs): void {
    // Also drops old entries, so that the list stays small without calls of `count`.
    this.count(now);
    this.#instants.push(now);
  }

  /** The number of events in `(now - length, now]`. */
  count(now: EpochMs): number {
    while ((this.#instants[this.#first] ?? Infinity) <= now - this.#lengthMs) this.#first++;
    if (this.#first > 1_000) {
      this.#instants = this.#instants.slice(this.#first);
      this.#first = 0;
    }
    return this.#instants.length - this.#first;
  }
}
