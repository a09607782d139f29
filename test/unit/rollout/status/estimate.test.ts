import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import { longestChain } from '../../../../src/rollout/planning/arrange-plan.ts';
import { estimateRemainder, type WaveRemainder } from '../../../../src/rollout/status/estimate.ts';
import { aPolicy, startedAt } from '../../../support/builders.ts';

const minute = 60_000;
const from = startedAt;

function remainder(changes: Partial<WaveRemainder> = {}): WaveRemainder {
  return { upgrades: 100, soakMs: 0, chain: 1, ...changes };
}

interface Of {
  readonly policy?: Partial<Policy>;
  readonly requestsPerSecond?: number;
  readonly learned?: { readonly count: number; readonly meanMs: number };
}

/** By default ten slots, a rate that never binds, and upgrades known to take four minutes. */
function estimate(
  remainders: readonly WaveRemainder[],
  { policy, requestsPerSecond = 1_000, learned }: Of = {},
) {
  return estimateRemainder(remainders, aPolicy({ concurrency: 10, ...policy }), {
    from,
    requestsPerSecond,
    learned: learned ?? { count: 50, meanMs: 4 * minute },
  });
}

const lasts = (remainders: readonly WaveRemainder[], of: Of = {}) =>
  (estimate(remainders, of).endsAt ?? Number.NaN) - from;

describe('what is left of a rollout', () => {
  it('takes its slots’ turns, and the tail of its slowest', () => {
    // 100 / 10 turns of 4 m, and 1.5 of 4 m for the tail.
    expect(lasts([remainder()])).toBe(46 * minute);
    expect(lasts([remainder()], { policy: { concurrency: 5 } })).toBe(86 * minute);
  });

  it('is bound by the request rate where that is less', () => {
    // 300 requests at 1 in 10 s.
    expect(lasts([remainder()], { requestsPerSecond: 0.1 })).toBe(56 * minute);
  });

  it('is bound by the longest chain under a cap where that is longer', () => {
    expect(lasts([remainder({ chain: 12 })])).toBe((11 * 4 + 6) * minute);
    expect(lasts([remainder({ chain: 11 })])).toBe(46 * minute);
  });

  it('is nothing where nothing is left, but for the soak', () => {
    expect(lasts([])).toBe(0);
    expect(lasts([remainder({ upgrades: 0, soakMs: 30 * minute })])).toBe(30 * minute);
    expect(estimate([remainder({ upgrades: 0 })]).requests).toBe(0);
  });

  it('adds up its waves and their soaks', () => {
    const wave = remainder({ soakMs: 30 * minute });
    expect(lasts([wave, wave])).toBe(2 * 76 * minute);
    expect(estimate([wave, wave]).requests).toBe(1_600);
  });

  it('goes by the policy until five durations are learned', () => {
    const expected = (5 + 10 / 30) * minute * 11.5;
    expect(lasts([remainder()], { learned: { count: 4, meanMs: minute } })).toBeCloseTo(expected, -1);
    expect(lasts([remainder()], { learned: { count: 5, meanMs: minute } })).toBe(11.5 * minute);
  });

  it('is as uncertain as a quarter of the work; soaks are certain', () => {
    expect(estimate([remainder()]).plusMinusMs).toBe(11.5 * minute);
    expect(estimate([remainder({ soakMs: 600 * minute })]).plusMinusMs).toBe(11.5 * minute);
  });
});

describe('an estimate with windows (P7)', () => {
  // 21:00 to 22:00, each day; it is 21:00.
  const windows = [{ days: [1, 2, 3, 4, 5, 6, 7], fromMinute: 21 * 60, toMinute: 22 * 60, timeZone: 'UTC' }];
  const day = 24 * 60 * minute;

  it('works only while one is open', () => {
    expect(lasts([remainder()], { policy: { windows } })).toBe(46 * minute);
    // 86 minutes of work: an hour tonight, the rest tomorrow.
    expect(lasts([remainder()], { policy: { windows, concurrency: 5 } })).toBe(day + 26 * minute);
  });

  it('soaks by the clock on the wall, and goes on in the next window', () => {
    const waves = [remainder({ soakMs: 30 * minute }), remainder()];
    // Soaks until 22:16, after the close.
    expect(lasts(waves, { policy: { windows } })).toBe(day + 46 * minute);
    expect(lasts([remainder({ upgrades: 0, soakMs: 90 * minute })], { policy: { windows } })).toBe(
      90 * minute,
    );
  });

  it('has no end where freezes leave no room', () => {
    const freezes = [{ from: '2026-01-01T00:00', to: '2029-01-01T00:00', reason: '', timeZone: 'UTC' }];
    expect(estimate([remainder()], { policy: { freezes } })).toMatchObject({ endsAt: null, plusMinusMs: 0 });
  });
});

describe('estimates in general', () => {
  const remainders = fc.array(
    fc.record({
      upgrades: fc.integer({ min: 0, max: 2_000 }),
      soakMs: fc.integer({ min: 0, max: 120 * minute }),
      chain: fc.integer({ min: 1, max: 20 }),
    }),
    { maxLength: 4 },
  );

  it('never end in the past, nor sooner with more to do', () => {
    fc.assert(
      fc.property(remainders, fc.integer({ min: 1, max: 50 }), (waves, more) => {
        const now = lasts(waves);
        expect(now).toBeGreaterThanOrEqual(waves.reduce((sum, { soakMs }) => sum + soakMs, 0));
        const fuller = waves.map((wave) => ({ ...wave, upgrades: wave.upgrades + more }));
        expect(lasts(fuller)).toBeGreaterThanOrEqual(now);
        expect(estimate(waves).plusMinusMs).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('the longest chain', () => {
  const cap = (limit: number) => ({ label: '', cap: limit });
  const members = (...domains: ReadonlyArray<readonly number[]>) =>
    domains.map((each) => ({ domains: each }));

  it('is what the tightest cap makes wait for each other', () => {
    expect(longestChain(members([0], [0], [0], []), [cap(1)])).toBe(3);
    expect(longestChain(members([0], [0], [0]), [cap(2)])).toBe(2);
    expect(longestChain(members([0, 1], [1], [1], [1]), [cap(1), cap(2)])).toBe(2);
  });

  it('is one where no cap binds, and nothing for nobody', () => {
    expect(longestChain(members([], []), [])).toBe(1);
    expect(longestChain([], [cap(1)])).toBe(0);
  });
});
