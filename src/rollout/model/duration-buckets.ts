import { sumOf } from '../../base/grouping.ts';
import type { DurationMs } from '../../base/time.ts';
import type { DurationSummary } from './rollout.ts';

// Quarter octaves: a bucket's upper edge is at most a fifth above its durations, and a day needs 106 buckets.
const bucketsPerOctave = 4;
const share = 0.95;

/** The bucket of a duration. Durations below a millisecond count as one millisecond. */
export function durationBucketOf(durationMs: DurationMs): number {
  return Math.floor(bucketsPerOctave * Math.log2(Math.max(1, durationMs)));
}

/**
 * Mean, percentile, maximum and spread of durations, from the counts of the buckets. The percentile is the upper edge of its bucket,
 * so it is never too low: an upgrade must not start because its duration is underestimated (P7).
 * @returns undefined if nothing was counted
 */
export function summarizeDurations(counts: ReadonlyMap<number, number>): DurationSummary | undefined {
  const buckets = [...counts].filter(([, amount]) => amount > 0).sort(([a], [b]) => a - b);
  const count = sumOf(buckets, ([, amount]) => amount);
  const octaves = sumOf(buckets, ([bucket, amount]) => amount * (bucket + 0.5)) / bucketsPerOctave;
  const rank = Math.ceil(share * count);
  const squares = sumOf(buckets, ([bucket, amount]) => amount * ((bucket + 0.5) / bucketsPerOctave) ** 2);
  const sigma = Math.LN2 * Math.sqrt(Math.max(0, squares / count - (octaves / count) ** 2));
  const medianMs = Math.round(2 ** (octaves / count));
  const longestMs = upperEdgeOf(buckets.at(-1)?.[0] ?? 0);
  let passed = 0;
  for (const [bucket, amount] of buckets) {
    passed += amount;
    if (passed < rank) continue;
    return { count, medianMs, p95Ms: upperEdgeOf(bucket), longestMs, sigma };
  }
  return undefined;
}

function upperEdgeOf(bucket: number): DurationMs {
  return Math.ceil(2 ** ((bucket + 1) / bucketsPerOctave));
}
