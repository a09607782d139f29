import { describe, expect, it } from 'vitest';
import { makeSteadyClock } from '../../../src/base/steady-clock.ts';
import { settableClocks } from '../../support/settable-clocks.ts';

const anHour = 3_600_000;

describe('a steady clock', () => {
  it('is the wall clock, also after small corrections', () => {
    const { clocks, pass, setWall } = settableClocks();
    const clock = makeSteadyClock(clocks);
    pass(5_000);
    setWall(9_000);
    expect(clock.now()).toBe(clocks.wallNow());
    expect(clock.hasJumped()).toBe(false);
  });

  it.each([anHour, -anHour])('does not follow a jump by %i ms until it is confirmed', (byMs) => {
    const { clocks, pass, setWall } = settableClocks();
    const clock = makeSteadyClock(clocks);
    const startedAt = clock.now();
    setWall(byMs);
    pass(5_000);
    expect(clock.hasJumped()).toBe(true);
    expect(clock.now()).toBe(startedAt + 5_000);
    clock.confirm();
    expect(clock.hasJumped()).toBe(false);
    expect(clock.now()).toBe(startedAt + 5_000 + byMs);
  });

  it('is the wall clock again when a jump is taken back', () => {
    const { clocks, setWall } = settableClocks();
    const clock = makeSteadyClock(clocks);
    setWall(anHour);
    setWall(-anHour);
    expect(clock.hasJumped()).toBe(false);
    expect(clock.now()).toBe(clocks.wallNow());
  });
});
