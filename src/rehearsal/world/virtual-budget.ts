import type { EpochMs } from '../../base/time.ts';

/** From `from` to before `to` the service answers nothing, or fewer requests than else. */
export interface Disturbance {
  readonly from: EpochMs;
  readonly to: EpochMs;
  /** 0: an outage. */
  readonly requestsPerSecond: number;
}

/** The API budget on a virtual clock: requests leave one after another. */
export interface VirtualBudget {
  /** Outside of disturbances. */
  readonly requestsPerSecond: number;
  readonly requests: number;
  /** The first instant from this one on at which a request may leave. */
  freeFrom(at: EpochMs): EpochMs;
  isDown(at: EpochMs): boolean;
  /** So many requests leave now, which may be a share of one; those after them wait until these have had their places. */
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
