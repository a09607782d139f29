import { describe, expect, it } from 'vitest';
import { makeTurnBudget } from '../../../src/base/turn-budget.ts';

describe('makeTurnBudget', () => {
  it('is spent after 8 ms of a turn, for all that share it, and renewed in the next turn', async () => {
    let now = 0;
    const turn = makeTurnBudget({ now: () => now });
    const spentAt = (at: number) => {
      now = at;
      return turn.isSpent();
    };
    expect([0, 7, 8].map(spentAt)).toEqual([false, false, true]);
    await turn.next();
    expect(turn.isSpent()).toBe(false);
  });
});
