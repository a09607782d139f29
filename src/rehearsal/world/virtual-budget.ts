import type { EpochMs } from '../../base/time.ts';

/** From `from` until before `to` the service answers nothing, or fewer requests than usual. */
export interface Disturbance {
  readonly from: EpochMs;
  readonly to: EpochMs;
  /** 0: an outage. */
  readonly requestsPerSecond: number;
}

/** The API budget on a virtual clock: requests are sent one after another. */
export interface VirtualBudget {
  /** The rate outside of disturbances. */
  readonly requestsPerSecond: number;
  readonly requests: number;
  /** The first instant, from this one on, at which a request may be sent. */
  freeFrom(at: EpochMs): EpochMs;
  isDown(at: EpochMs): boolean;
  /** Sends this many requests now, possibly a fraction. Later requests wait for them. */
  spend(requests: number, now: EpochMs): void;
}

/** @param requestsPerSecond outside of disturbances; Infinity: requests take no time */
export function makeVirtualBudget(
  requestsPerSecond: number,
  disturbances: readonly Disturbance[],
): VirtualBudget {
  let requests = 0;
  let freeAt: EpochMs = Number.NEGATIVE_INFINITY;
  const at = (instant: EpochMs) => disturbances.find(({ from, to }) => from <= instant && instant < to);
  const isDown = (instant: EpochMs) => at(instant)?.requestsPerSecond === 0;
  return {
    requestsPerSecond,
    get requests() {
      return Math.round(requests);
    },
    freeFrom: (instant) => {
      let free = Math.max(instant, freeAt);
      while (isDown(free)) free = at(free)?.to ?? free;
      // Instants are whole milliseconds.
      return Math.ceil(free);
    },
    isDown,
    spend: (count, now) => {
      requests += count;
      const rate = at(now)?.requestsPerSecond ?? requestsPerSecond;
      if (rate > 0) freeAt = Math.max(freeAt, now) + (count * 1_000) / Math.min(rate, requestsPerSecond);
    },
  };
}
