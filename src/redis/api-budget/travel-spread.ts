import type { DurationMs } from '../../base/time.ts';

/** How unevenly requests travel to the service, seen by how long each takes there and back. */
export type TravelSpread = ReturnType<typeof makeTravelSpread>;

// About 16 s at 4 requests a second. Fewer would not contain a quick one.
const requestsKept = 64;
const requestsMin = 16;

// With delays spread evenly over one way, the slowest is twice as far from the quickest as the median is. The rest is for
// networks whose delays have a long tail. The median itself is free of long lists and of requests that ran into a time-out.
const spreadOfMedian = 4;

/** @param bounds the least, and the most: before enough is known, and where the service itself is uneven */
export function makeTravelSpread(bounds: { readonly minMs: DurationMs; readonly maxMs: DurationMs }) {
  const leftAt = new Map<string, number>();
  const tookMs: DurationMs[] = [];
  let next = 0;
  return {
    /** @param at by a monotonic clock */
    left: (permit: string, at: number): void => {
      leftAt.set(permit, at);
    },
    /** The request was answered, failed, or never left. */
    ended: (permit: string, at: number): void => {
      const from = leftAt.get(permit);
      if (from === undefined) return;
      leftAt.delete(permit);
      tookMs[next] = at - from;
      next = (next + 1) % requestsKept;
    },
    /** How much longer one request may travel than another. */
    get spreadMs(): DurationMs {
      // The first requests meet cold connections and caches.
      if (tookMs.length < requestsMin) return bounds.maxMs;
      const sorted = tookMs.toSorted((a, b) => a - b);
      const [quickest = 0] = sorted;
      const median = sorted[Math.floor(sorted.length / 2)] ?? quickest;
      return Math.min(Math.max(spreadOfMedian * (median - quickest), bounds.minMs), bounds.maxMs);
    },
  };
}
