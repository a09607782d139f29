import { describe, expect, it } from 'vitest';
import { RateLimit } from '../../../../src/reference-service/server/rate-limit.ts';

/** How many requests at these instants are refused. */
function refusedOf(instants: readonly number[]): number {
  const limit = new RateLimit(4);
  return instants.filter((at) => {
    const isAllowed = limit.allows(at);
    if (isAllowed) limit.add(at);
    return !isAllowed;
  }).length;
}

const every = (ms: number, count: number) => Array.from({ length: count }, (_, tick) => tick * ms);

describe('a limit of four requests a second', () => {
  it('lets a ticker of 240 a minute through, whose ticks are up to 40 ms late', () => {
    const late = every(250, 2_400).map((at, tick) => at + ((tick * 7_919) % 41));
    expect(refusedOf(late)).toBe(0);
  });

  it('refuses the fifth request of a burst, and accepts the next one a second after the first', () => {
    expect(refusedOf([0, 0, 0, 0, 0])).toBe(1);
    expect(refusedOf([0, 0, 0, 0, 900])).toBe(1);
    expect(refusedOf([0, 0, 0, 0, 1_000])).toBe(0);
  });

  it('lets nobody gain by its tolerance for long', () => {
    const asked = every(10, 6_000);
    expect(asked.length - refusedOf(asked)).toBeLessThanOrEqual(244);
    expect(refusedOf(every(240, 1_000))).toBeGreaterThan(30);
  });
});
