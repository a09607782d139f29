import { describe, expect, it } from 'vitest';
import { startStopwatch } from '../../../src/base/stopwatch.ts';
import { settableClocks } from '../../support/settable-clocks.ts';

const anHour = 3_600_000;

function aStopwatch() {
  const { clocks, ...set } = settableClocks();
  return { ...set, elapsedMs: startStopwatch(clocks) };
}

describe('a stopwatch', () => {
  it('tells the time since its start', () => {
    const { elapsedMs, pass } = aStopwatch();
    expect(elapsedMs()).toBe(0);
    pass(1_500);
    expect(elapsedMs()).toBe(1_500);
  });

  it('counts the time for which the machine was suspended, to the granularity of the wall clock (P4)', () => {
    const { elapsedMs, pass, suspend } = aStopwatch();
    pass(100);
    suspend(6_000);
    pass(100);
    expect(elapsedMs()).toBe(6_199);
  });

  it.each([
    [1, 1_500],
    [-1, 1_500],
    [-200, 1_500],
    [anHour, anHour + 1_499],
    [-1_000, Number.POSITIVE_INFINITY],
    [-anHour, Number.POSITIVE_INFINITY],
  ])('tells no less than what passed when the wall clock is set by %i ms', (byMs, elapsed) => {
    const { elapsedMs, pass, setWall } = aStopwatch();
    pass(1_000);
    setWall(byMs);
    pass(500);
    expect(elapsedMs()).toBe(elapsed);
  });

  it('does not know how long the machine was suspended when its clock was set back meanwhile', () => {
    const { elapsedMs, suspend, setWall } = aStopwatch();
    suspend(6_000);
    setWall(-anHour);
    expect(elapsedMs()).toBe(Number.POSITIVE_INFINITY);
  });

  it('measures by the clocks of the machine', () => {
    const elapsedMs = startStopwatch();
    const first = elapsedMs();
    expect(first).toBeGreaterThanOrEqual(0);
    expect(elapsedMs()).toBeGreaterThanOrEqual(first);
  });
});
