import type { EpochMs } from '../../base/time.ts';

/** From `from` until before `to` the service answers nothing, or fewer requests than usual. */
export interface Disturbance {
  readonly from: EpochMs;
  readonly to: EpochMs;
  /** 0: an outage. */
  readonly requestsPerSecond: number;
}

export type VirtualBudget = ReturnType<typeof makeVirtualBudget>;

/**
 * The API budget on a virtual clock: requests are sent one after another.
 * @param requestsPerSecond outside of disturbances; Infinity: requests take no time
 */
export function makeVirtualBudget(requestsPerSecond: number, disturbances: readonly Disturbance[]) {
  let requests = 0;
  let freeAt: EpochMs = Number.NEGATIVE_INFINITY;
  const at = (instant: EpochMs) => disturbances.find(({ from, to }) => from <= instant && instant < to);
  const isDown = (instant: EpochMs): boolean => at(instant)?.requestsPerSecond === 0;
  return {
    requestsPerSecond,
    get requests(): number {
      return Math.round(requests);
    },
    /** The first instant, from this one on, at which a request may be sent. */
    freeFrom: (instant: EpochMs): EpochMs => {
      let free = Math.max(instant, freeAt);
      while (isDown(free)) free = at(free)?.to ?? free;
      // Instants are whole milliseconds.
      return Math.ceil(free);
    },
    isDown,
    /** Sends this many requests now, possibly a fraction. Later requests wait for them. */
    spend: (count: number, now: EpochMs): void => {
      requests += count;
      const rate = at(now)?.requestsPerSecond ?? requestsPerSecond;
      if (rate > 0) freeAt = Math.max(freeAt, now) + (count * 1_000) / Math.min(rate, requestsPerSecond);
    },
  };
}
