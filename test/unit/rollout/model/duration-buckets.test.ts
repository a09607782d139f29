import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { durationBucketOf, summarizeDurations } from '../../../../src/rollout/model/duration-buckets.ts';

describe('learned durations', () => {
  it('are undefined where nothing was counted', () => {
    expect(summarizeDurations(new Map())).toBeUndefined();
    expect(summarizeDurations(new Map([[7, 0]]))).toBeUndefined();
  });

  it('show the upper edge of the bucket with the 95th percentile', () => {
    // 19 of 20 are the 95th; the slowest one is beyond it.
    expect(summarizeDurations(countOf([...Array<number>(19).fill(1_000), 90_000]))).toEqual({
      count: 20,
      medianMs: 1_176,
      p95Ms: 1_024,
      longestMs: 92_682,
      sigma: expect.closeTo(0.98, 2),
    });
    expect(summarizeDurations(countOf([...Array<number>(18).fill(1_000), 90_000, 90_000]))?.p95Ms).toBe(
      92_682,
    );
    expect(summarizeDurations(countOf([0]))).toEqual({
      ...{ count: 1, medianMs: 1, p95Ms: 2 },
      ...{ longestMs: 2, sigma: 0 },
    });
  });

  it('are never shorter than the true percentile, and at most a fifth longer', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 4, max: 86_400_000 }), { minLength: 1 }), (tookMs) => {
        const sorted = tookMs.toSorted((a, b) => a - b);
        const true95 = sorted[Math.ceil(0.95 * sorted.length) - 1] ?? 0;
        const { count, p95Ms } = summarizeDurations(countOf(tookMs)) ?? { count: 0, p95Ms: 0 };
        expect(count).toBe(tookMs.length);
        expect(p95Ms).toBeGreaterThanOrEqual(true95);
        // Rounded up to a whole millisecond.
        expect(p95Ms).toBeLessThanOrEqual(true95 * 2 ** 0.25 + 1);
      }),
    );
  });
});

it('the median of log-normal durations is their geometric mean, however the slow ones vary', () => {
  const quick = [2, 3, 4, 6, 8].map((each) => each * 60_000);
  const medianMs = summarizeDurations(countOf(quick))?.medianMs ?? 0;
  expect(medianMs / 60_000).toBeGreaterThan(3.8);
  expect(medianMs / 60_000).toBeLessThan(4.5);
});

function countOf(tookMs: readonly number[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  // Not in the order of their size: the hash in Redis has none.
  for (const each of tookMs.toReversed()) {
    const bucket = durationBucketOf(each);
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
  }
  return counts;
}
