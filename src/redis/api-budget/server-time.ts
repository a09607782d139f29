interface Exchange {
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly redisAt: number;
}

/**
 * Converts instants of Redis's clock to this process's monotonic clock. Each exchange gives two bounds for the offset between
 * the clocks: the quicker, the closer. Each further exchange narrows the bounds. One that contradicts them shows that a clock
 * was set or drifted, and resets them.
 */
export function makeRedisTime() {
  let aheadMin = Number.NEGATIVE_INFINITY;
  let aheadMax = Number.POSITIVE_INFINITY;
  return {
    /** Learns from one exchange. All in milliseconds: the first two by the monotonic clock, the last by Redis's. */
    observe: ({ sentAt, receivedAt, redisAt }: Exchange): void => {
      const low = redisAt - receivedAt;
      const high = redisAt - sentAt;
      const isContradiction = low > aheadMax || high < aheadMin;
      aheadMin = isContradiction ? low : Math.max(aheadMin, low);
      aheadMax = isContradiction ? high : Math.min(aheadMax, high);
    },
    /** The monotonic instant of an instant at Redis. */
    toMonotonic: (redisAt: number): number => redisAt - (aheadMin + aheadMax) / 2,
    /** The possible error in milliseconds: infinite before the first exchange. */
    uncertaintyMs: (): number => (aheadMax - aheadMin) / 2,
  };
}
