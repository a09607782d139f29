import { describe, expect, it } from 'vitest';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import {
  estimateRemainder,
  type LearnedDurations,
  limitsOfWaves,
  type WaveRemainder,
} from '../../../../src/rollout/status/estimate.ts';
import { aPolicy, aWaveRule, startedAt } from '../../../support/builders.ts';

const minute = 60_000;
const from = startedAt;

function remainder(changes: Partial<WaveRemainder> = {}): WaveRemainder {
  return { upgrades: 100, mayStart: true, soakMs: 0, chain: 1, ...changes };
}

interface Of {
  readonly policy?: Partial<Policy>;
  readonly requestsPerSecond?: number;
  readonly fleetSize?: number | undefined;
  readonly learned?: LearnedDurations;
}

/** By default ten slots, a rate that never binds, and upgrades known to take four minutes, each of them. */
function estimate(
  remainders: readonly WaveRemainder[],
  { policy, requestsPerSecond = 1_000, fleetSize = 1_000, learned }: Of = {},
) {
  return estimateRemainder(remainders, aPolicy({ concurrency: 10, ...policy }), {
    from,
    requestsPerSecond,
    fleetSize,
    learned: learned ?? { count: 50, meanMs: 4 * minute, p95Ms: 4 * minute },
  });
}

const lasts = (remainders: readonly WaveRemainder[], of: Of = {}) =>
  (estimate(remainders, of).endsAt ?? Number.NaN) - from;

describe('the estimate of a rollout', () => {
  it('depends on the slots, or on the request rate when that is lower', () => {
    expect(lasts([remainder()])).toBe(40 * minute);
    // 210 requests at 1 in 10 s, of which a quarter is for lists.
    expect(lasts([remainder()], { requestsPerSecond: 0.1 })).toBeCloseTo((35 * minute * 4) / 3, -3);
  });

  it('ends after a retry that is not due yet, where the others end before', () => {
    const few = { upgrades: 3 };
    expect(lasts([remainder(few)])).toBe(4 * minute);
    expect(lasts([remainder({ ...few, retryWaitMs: 15 * minute })])).toBe(19 * minute);
    expect(lasts([remainder({ retryWaitMs: 15 * minute })])).toBe(40 * minute);
  });

  it('depends on the pace, whose ramp counts what succeeded in earlier waves, and on own calendars of waves', () => {
    const pace = { perHour: 100, from: 50, factor: 2, after: 50 };
    const rules = [aWaveRule({ name: 'canary' }), aWaveRule({ notBefore: '2026-03-10T00:00' })];
    const waves = rules.map((rule) => ({ rule, succeeded: 0, starts: 50 }));
    const [first, last] = limitsOfWaves(aPolicy({ pace }), waves);
    expect((first?.pacedMs ?? 0) / (60 * minute)).toBeCloseTo(1, 1);
    expect((last?.pacedMs ?? 0) / (60 * minute)).toBeCloseTo(0.5, 1);
    expect(lasts([remainder({ upgrades: 50, ...first })]) / (60 * minute)).toBeCloseTo(1, 1);
    const few = remainder({ upgrades: 10, ...(last?.calendar && { calendar: last.calendar }) });
    expect(estimate([few]).endsAt).toBe(Date.parse('2026-03-10T00:00Z') + 4 * minute);
  });

  it('has no end in windows that are shorter than an upgrade, and skips those (P7)', () => {
    const nightly = (toMinute: number) => ({
      days: [0, 1, 2, 3, 4, 5, 6],
      fromMinute: 0,
      toMinute,
      timeZone: 'UTC',
    });
    const ends = (minutes: number, more: Partial<WaveRemainder> = {}) =>
      estimate([remainder(more)], { policy: { windows: [nightly(minutes)] } }).endsAt;
    const { expectMs } = aPolicy().upgrade;
    expect(ends(expectMs / minute - 1)).toBeNull();
    expect(ends(expectMs / minute)).not.toBeNull();
    // What is running ends without a window.
    expect(ends(expectMs / minute - 1, { mayStart: false, upgrades: 5 })).toBe(from + 4 * minute);
  });

  it('has a range without the time in which windows are closed', () => {
    const saturdays = { days: [6], fromMinute: 0, toMinute: 45, timeZone: 'UTC' };
    const { endsAt, plusMinusMs } = estimate([remainder()], { policy: { windows: [saturdays] } });
    expect(endsAt).toBe(Date.parse('2026-03-07T00:40Z'));
    expect(plusMinusMs).toBe(estimate([remainder()]).plusMinusMs);
    expect(plusMinusMs).toBe(10 * minute);
  });

  it('depends on the longest chain under a cap when that takes longer', () => {
    expect(lasts([remainder({ chain: 12 })])).toBe(48 * minute);
    expect(lasts([remainder({ chain: 10 })])).toBe(40 * minute);
  });

  it('has two to three requests an upgrade when lists show many at once, and more for few', () => {
    const perUpgrade = (upgrades: number, concurrency: number, fleetSize?: number) =>
      estimate([remainder({ upgrades })], { policy: { concurrency }, fleetSize }).requests / upgrades;
    expect(perUpgrade(1_000, 1_000)).toBeLessThan(2.3);
    expect(perUpgrade(1_000, 100)).toBeGreaterThan(2.3);
    expect(perUpgrade(1_000, 100)).toBeLessThan(2.6);
    expect(perUpgrade(100, 10)).toBeGreaterThan(5);
    // Five upgrades in a fleet of ten pages are polled one by one.
    expect(perUpgrade(5, 5, 10_000)).toBeLessThan(25);
  });

  it('is at least the duration of one upgrade, however many slots there are', () => {
    expect(lasts([remainder({ upgrades: 3 })])).toBe(4 * minute);
  });

  it('uses the policy until five durations are learned, and weighs the slow half more', () => {
    const unknown = { count: 4, meanMs: minute, p95Ms: minute };
    // The mean is 1.43 times the median of 5 minutes, and 20 s of verification.
    const usual = { count: 5, meanMs: 5 * 1.4263 * minute + 20_000 };
    expect(lasts([remainder()], { learned: unknown })).toBeCloseTo(
      lasts([remainder()], { learned: usual }),
      -4,
    );
    expect(lasts([remainder()], { learned: { ...unknown, count: 5 } })).toBe(10 * minute);
  });

  it('ends with the slowest of those that run last: later the more they are and vary, until the deadline', () => {
    const endOf = (concurrency: number, p95Ms: number) =>
      lasts([remainder({ upgrades: concurrency })], {
        policy: { concurrency, retry: { ...aPolicy().retry, maxAttempts: 1 } },
        learned: { count: 50, meanMs: 4 * minute, p95Ms },
      });
    expect(endOf(1, 12 * minute)).toBe(4 * minute);
    expect(endOf(20, 4 * minute)).toBe(4 * minute);
    expect(endOf(20, 8 * minute)).toBeGreaterThan(7 * minute);
    expect(endOf(20, 12 * minute)).toBeGreaterThan(endOf(20, 8 * minute));
    expect(endOf(1_000, 12 * minute)).toBe(35 * minute);
  });

  it('includes a retry at the end when so many upgrades run last that one of them usually fails', () => {
    const many = (maxAttempts: number) =>
      lasts([remainder()], { policy: { concurrency: 100, retry: { ...aPolicy().retry, maxAttempts } } });
    expect(many(3) - many(1)).toBe(6 * minute);
  });

  it('has a wider range where durations vary or are little known, by what the last ones and their sum vary', () => {
    const share = (upgrades: number, count: number, p95Ms: number) => {
      const of = { learned: { count, meanMs: 4 * minute, p95Ms } };
      return estimate([remainder({ upgrades })], of).plusMinusMs / lasts([remainder({ upgrades })], of);
    };
    expect(share(10, 500, 5 * minute)).toBeLessThan(0.3);
    expect(share(10, 500, 12 * minute)).toBeGreaterThan(0.4);
    expect(share(200, 500, 12 * minute)).toBeLessThan(0.3);
    expect(share(200, 6, 12 * minute)).toBeGreaterThan(0.5);
  });

  it('ends sooner where slots start at different instants than where slow upgrades start together', () => {
    const of = {
      policy: { concurrency: 100 },
      learned: { count: 500, meanMs: 7 * minute, p95Ms: 20 * minute },
    };
    const lastMs = (upgrades: number) => lasts([remainder({ upgrades })], of) - (upgrades / 100) * 7 * minute;
    expect(lastMs(1_000)).toBeLessThan(lastMs(100) - 2 * minute);
  });

  it('is uncertain by a quarter of the work, and not by the soaks', () => {
    expect(estimate([remainder()]).plusMinusMs).toBe(10 * minute);
    expect(estimate([remainder({ soakMs: 600 * minute })]).plusMinusMs).toBe(10 * minute);
  });
});
