import { describe, expect, it } from 'vitest';
import type { SeedResult } from '../../../src/rehearsal/play/play-seed.ts';
import { isSettled } from '../../../src/rehearsal/result/is-settled.ts';
import { aSeedResult } from '../../support/builders/rehearsal-builders.ts';

const hour = 3_600_000;

function results(count: number, of: (index: number) => Partial<SeedResult>): readonly SeedResult[] {
  return Array.from({ length: count }, (_, index) => ({
    ...aSeedResult({ seed: index + 1, tookMs: 30 * hour }),
    ...of(index),
  }));
}

describe('a rehearsal', () => {
  it('is stable after a hundred seeds with the same end, within a hundredth of each other', () => {
    const alike = (index: number) => ({ tookMs: 30 * hour * (1 + (index % 10) / 1_000) });
    expect(isSettled(results(99, alike))).toBe(false);
    expect(isSettled(results(100, alike))).toBe(true);
  });

  it('is not stable while it ends for one of two reasons', () => {
    const mixed = (index: number) =>
      index === 7 ? ({ state: 'held', reasonKind: 'failures' } as const) : {};
    expect(isSettled(results(150, mixed))).toBe(false);
  });

  it.each(['harmed', 'othersDone', 'rolledBack', 'tookMs', 'requests'] as const)(
    'is not settled while %s is far from seed to seed',
    (figure) => {
      expect(isSettled(results(150, (index) => ({ [figure]: 40 + (index % 20) })))).toBe(false);
    },
  );
});
