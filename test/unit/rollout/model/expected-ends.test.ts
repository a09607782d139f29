import { describe, expect, it } from 'vitest';
import { durationBucketOf, summarizeDurations } from '../../../../src/rollout/model/duration-buckets.ts';
import { expectEnds, fitDurations } from '../../../../src/rollout/model/expected-ends.ts';
import { medianOf, usualSpread } from '../../../../src/rollout/model/log-normal.ts';
import type { DurationSummary } from '../../../../src/rollout/model/rollout.ts';

const minutes = 60_000;
const expectMs = 5 * minutes;

/** Each of 99 upgrades lasts longer than the one before; half of them end within the median. */
function spreadAround(medianMs: number): readonly number[] {
  return Array.from({ length: 99 }, (_, index) => medianMs * ((index + 1) / (99 - index)) ** 0.5);
}

function summaryOf(tookMs: readonly number[]): DurationSummary {
  const counts = new Map<number, number>();
  for (const bucket of tookMs.map(durationBucketOf)) counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
  const summary = summarizeDurations(counts);
  if (summary === undefined) throw new Error('nothing took any time');
  return summary;
}

/** Upgrades of one stratum that all began at once, so long ago. */
function begun(agoMs: number, tookMs: readonly number[], stratum = 0) {
  const ended = tookMs.filter((each) => each <= agoMs);
  return {
    running: tookMs.filter((each) => each > agoMs).map(() => ({ stratum, ageMs: agoMs })),
    durations: new Map(ended.length === 0 ? [] : [[stratum, summaryOf(ended)]]),
    endedMeanMs: ended.reduce((sum, each) => sum + each, 0) / Math.max(1, ended.length),
  };
}

const oneRunning = (ageMs: number, stratum = 0) => ({ running: [{ stratum, ageMs }] });

describe('the most likely durations', () => {
  const fitted = (agoMs: number, tookMs: readonly number[]) => {
    const { running, durations } = begun(agoMs, tookMs);
    return fitDurations(
      [...durations.values()],
      running.map(({ ageMs }) => ageMs),
    );
  };

  it('are unknown until an upgrade has ended', () => {
    expect(fitDurations([], [minutes])).toBeUndefined();
  });

  it.each([1 / 2, 1, 2])(
    'are those of all upgrades, although only those of %s medians have ended',
    (share) => {
      const all = spreadAround(4 * minutes);
      const [early, late] = [fitted(share * 4 * minutes, all), fitted(Number.POSITIVE_INFINITY, all)];
      expect(medianOf(early ?? usualSpread(1)) / minutes).toBeGreaterThan(3);
      expect(medianOf(early ?? usualSpread(1)) / minutes).toBeLessThan(5.5);
      expect((early?.sigma ?? 0) / (late?.sigma ?? 1)).toBeGreaterThan(0.6);
      expect((early?.sigma ?? 9) / (late?.sigma ?? 1)).toBeLessThan(1.4);
    },
  );
});

describe('the expected duration of upgrades', () => {
  it('is that of the policy, until an upgrade has ended', () => {
    const { usualMs, endsPerMs } = expectEnds({ running: [], durations: new Map(), expectMs });
    expect(usualMs).toBeCloseTo(expectMs);
    expect(endsPerMs).toEqual([]);
  });

  it.each([2, 3, 5, 8, 20])(
    'is not biased towards short upgrades, which end first, when all began %i minutes ago',
    (ago) => {
      const { endedMeanMs, ...sample } = begun(ago * minutes, spreadAround(expectMs));
      const { usualMs } = expectEnds({ ...sample, expectMs });
      expect(usualMs / expectMs).toBeGreaterThan(0.85);
      expect(usualMs / expectMs).toBeLessThan(1.25);
      if (ago < 4) expect(endedMeanMs).toBeLessThan(expectMs / 2);
    },
  );

  it('follows the ended upgrades where the policy is far off', () => {
    for (const factor of [0.05, 0.3, 4, 20]) {
      const { running, durations } = begun(expectMs * 20 * factor, spreadAround(expectMs * factor));
      const { usualMs } = expectEnds({ running, durations, expectMs });
      expect(usualMs / expectMs / factor).toBeGreaterThan(0.7);
      expect(usualMs / expectMs / factor).toBeLessThan(1.4);
    }
  });

  it('is that of the running strata', () => {
    const durations = new Map([
      [0, summaryOf(spreadAround(3 * minutes))],
      [1, summaryOf(spreadAround(12 * minutes))],
    ]);
    const usualOf = (stratum: number) =>
      expectEnds({ ...oneRunning(minutes, stratum), durations, expectMs }).usualMs / minutes;
    expect(usualOf(0)).toBeGreaterThan(2.7);
    expect(usualOf(0)).toBeLessThan(3.5);
    expect(usualOf(1)).toBeGreaterThan(10);
    expect(usualOf(1)).toBeLessThan(12.5);
    // Of a stratum without any the rollout knows best: strata vary about its median.
    expect(usualOf(2)).toBeGreaterThan(5);
    expect(usualOf(2)).toBeLessThan(7);
  });

  it('moves only part of the way after a few ends of a stratum', () => {
    const durations = new Map([
      [0, summaryOf(spreadAround(3 * minutes))],
      [1, summaryOf([12 * minutes, 12 * minutes])],
    ]);
    const { usualMs } = expectEnds({ ...oneRunning(minutes, 1), durations, expectMs });
    expect(usualMs).toBeGreaterThan(3 * minutes);
    expect(usualMs).toBeLessThan(5 * minutes);
  });

  it('grows to a bound while ends are not yet observed, so that lists are not read ever more rarely', () => {
    const running = Array.from({ length: 800 }, (_, index) => ({ stratum: 0, ageMs: index * 600 }));
    const usualOf = (ended: readonly number[]) =>
      expectEnds({ running, durations: new Map([[0, summaryOf(ended)]]), expectMs }).usualMs / minutes;
    expect(usualOf([minutes])).toBe(7.5);
    expect(usualOf([20 * minutes])).toBeGreaterThan(7.5);
  });

  it('is not changed by a few upgrades that hang', () => {
    const durations = new Map([[0, summaryOf(spreadAround(expectMs))]]);
    const hung = Array.from({ length: 3 }, () => ({ stratum: 0, ageMs: 1_000 * expectMs }));
    const { usualMs } = expectEnds({ running: hung, durations, expectMs });
    expect(usualMs).toBeLessThan(expectMs * 1.2);
  });
});

describe('the rate at which a running upgrade ends', () => {
  const durations = new Map([
    [0, summaryOf(spreadAround(3 * minutes))],
    [1, summaryOf(spreadAround(9 * minutes))],
  ]);
  const chanceOf = (ageMs: number, stratum = 0) =>
    expectEnds({ ...oneRunning(ageMs, stratum), durations, expectMs }).endsPerMs[0] ?? Number.NaN;

  it('is small right after the start, and falls again when an upgrade takes very long', () => {
    expect(chanceOf(0.3 * minutes)).toBeLessThan(chanceOf(3 * minutes) / 5);
    expect(chanceOf(60 * minutes)).toBeLessThan(chanceOf(3 * minutes) / 4);
  });

  it('is smaller in a stratum whose upgrades take longer', () => {
    expect(chanceOf(2 * minutes, 1)).toBeLessThan(chanceOf(2 * minutes, 0) / 3);
  });

  it('ends half of the upgrades within the usual duration', () => {
    const stepMs = 3_000;
    const ages = Array.from({ length: (3 * minutes) / stepMs }, (_, step) => (step + 0.5) * stepMs);
    const hazard = ages.reduce((sum, ageMs) => sum + chanceOf(ageMs) * stepMs, 0);
    expect(Math.exp(-hazard)).toBeCloseTo(0.5, 1);
  });
});
