import { describe, expect, it } from 'vitest';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
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
  it('is bound by the request rate where that is less', () => {
    // 300 requests at 1 in 10 s.
    expect(lasts([remainder()], { requestsPerSecond: 0.1 })).toBe(56 * minute);
  });

  it('is bound by the longest chain under a cap where that is longer', () => {
    expect(lasts([remainder({ chain: 12 })])).toBe((11 * 4 + 6) * minute);
    expect(lasts([remainder({ chain: 11 })])).toBe(46 * minute);
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
