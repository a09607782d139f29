/** Translates instants of Redis's clock into this process's monotonic one. */
export interface RedisTime {
  /** Learns from one exchange: all in milliseconds, the first two by the monotonic clock, the last by Redis's. */
  observe(exchange: { readonly sentAt: number; readonly receivedAt: number; readonly redisAt: number }): void;
  /** When by the monotonic clock it is this late at Redis. */
  toMonotonic(redisAt: number): number;
  /** By how much that may be wrong, in milliseconds: infinite before the first exchange. */
  uncertaintyMs(): number;
}

/**
 * Each exchange says that Redis's clock is ahead of ours by something between two bounds, and a quick exchange says it
 * precisely. The bounds are narrowed with each one; one that contradicts them means that a clock was set or drifted,
 * and starts them again.
 */
export function makeRedisTime(): RedisTime {
  let aheadMin = Number.NEGATIVE_INFINITY;
  let aheadMax = Number.POSITIVE_INFINITY;
  return {
    observe: ({ sentAt, receivedAt, redisAt }) => {
      const low = redisAt - receivedAt;
      const high = redisAt - sentAt;
      const isContradiction = low > aheadMax || high < aheadMin;
      aheadMin = isContradiction ? low : Math.max(aheadMin, low);
      aheadMax = isContradiction ? high : Math.min(aheadMax, high);
    },
    toMonotonic: (redisAt) => redisAt - (aheadMin + aheadMax) / 2,
    uncertaintyMs: () => (aheadMax - aheadMin) / 2,
  };
}
