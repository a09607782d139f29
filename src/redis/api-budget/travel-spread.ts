import type { DurationMs } from '../../base/time.ts';

// About 16 s at 4 requests a second. Fewer would not contain a quick one.
const requestsKept = 64;
const requestsMin = 16;

// With delays spread evenly over one way, the slowest is twice as far from the quickest as the median is. The rest is for
// networks whose delays have a long tail. The median itself is free of requests that ran into a time-out.
const spreadOfMedian = 4;

/**
 * Learns how unevenly requests travel to the service, from how long each takes there and back.
 * @param bounds the least, and the most: before enough is known, and where the service itself is uneven
 */
export function makeTravelSpread(bounds: { readonly minMs: DurationMs; readonly maxMs: DurationMs }) {
  const leftAt = new Map<string, number>();
  const tookMs: DurationMs[] = [];
  let next = 0;
  let quickestMs = 0;
  let spreadMs = bounds.maxMs;
  const learn = (): void => {
    // The first requests meet cold connections and caches.
    if (tookMs.length < requestsMin) return;
    const sorted = tookMs.toSorted((a, b) => a - b);
    quickestMs = sorted[0] ?? 0;
    const medianMs = sorted[Math.floor(sorted.length / 2)] ?? quickestMs;
    spreadMs = Math.min(Math.max(spreadOfMedian * (medianMs - quickestMs), bounds.minMs), bounds.maxMs);
  };
  return {
    /** @param at by a monotonic clock */
    left: (permit: string, at: number): void => {
      leftAt.set(permit, at);
    },
    /**
     * The request was answered, failed, or never left.
     * @returns how much later than usual it may have arrived; 0 where that is within the spread, or where requests are so uneven
     *   that a late answer says nothing about the way
     */
    ended: (permit: string, at: number): DurationMs => {
      const from = leftAt.get(permit);
      if (from === undefined) return 0;
      leftAt.delete(permit);
      const laterMs = at - from - quickestMs;
      const isUnusual = spreadMs < bounds.maxMs && laterMs > spreadMs;
      tookMs[next] = at - from;
      next = (next + 1) % requestsKept;
      learn();
      return isUnusual ? laterMs : 0;
    },
    /** How much longer one request may travel than another. */
    get spreadMs(): DurationMs {
      return spreadMs;
    },
  };
}
