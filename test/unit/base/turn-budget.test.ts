import { describe, expect, it } from 'vitest';
import { makeTurnBudget } from '../../../src/base/turn-budget.ts';

describe('makeTurnBudget', () => {
  it('is spent after 8 ms of a turn, for all budgets together, and renewed in the next turn', async () => {
    let now = 0;
    const [one, other] = [makeTurnBudget({ now: () => now }), makeTurnBudget({ now: () => now + 1_000 })];
    const isSpentAt = (at: number, turn = one) => {
      now = at;
      return turn.isSpent();
    };
    expect([0, 5].map((at) => isSpentAt(at))).toEqual([false, false]);
    expect([5, 7, 8].map((at) => isSpentAt(at, other))).toEqual([false, false, true]);
    expect(isSpentAt(8)).toBe(true);
    await one.next();
    expect(isSpentAt(20, other)).toBe(false);
  });

  it('gives each turn to one work alone, in the order in which they wait', async () => {
    let now = 0;
    const slices: string[] = [];
    const work = async (name: string, slicesWanted: number) => {
      const turn = makeTurnBudget({ now: () => now });
      for (let slice = 0; slice < slicesWanted; slice += 1) {
        while (turn.isSpent()) await turn.next();
        slices.push(name);
        now += 8;
      }
    };
    await Promise.all([work('long', 4), work('short', 2), work('shorter', 1)]);
    expect(slices).toEqual(['long', 'long', 'short', 'shorter', 'long', 'short', 'long']);
  });
});
