import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { TurnBudget } from '../../../src/base/turn-budget.ts';
import { decodePage } from '../../../src/http/list-page.ts';

const Row = z.object({ id: z.number(), name: z.string().optional() });

const same = (value: unknown): unknown => value;

/** Never spent: a test that asks for no slices gets none. */
const endless: TurnBudget = { isSpent: () => false, next: async () => {} };

describe('decodePage', () => {
  it('gives null, at its place, for a row that is unknown or too large', async () => {
    const values = [
      { id: 1, other: 'x'.repeat(200_000) },
      7,
      { id: 2, name: 'x'.repeat(200_000) },
      { id: 3 },
    ];
    const { rows } = await decodePage(values, same, Row, endless);
    expect(rows).toEqual([{ id: 1 }, null, null, { id: 3 }]);
  });

  it('knows about how much memory the rows take, of what is kept alone', async () => {
    const values = Array.from({ length: 1_000 }, (_, id) => ({ id, name: 'x'.repeat(100), more: [1, 2, 3] }));
    const { weight } = await decodePage(values, same, Row, endless);
    expect(weight).toBeGreaterThan(200_000);
    expect(weight).toBeLessThan(300_000);
  });

  it('yields as soon as a turn is spent, and goes on behind the row at which it stopped', async () => {
    let rowsOfTurn = 0;
    let turns = 0;
    const turn: TurnBudget = {
      isSpent: () => rowsOfTurn >= 100,
      next: async () => {
        turns += 1;
        rowsOfTurn = 0;
      },
    };
    const counted = Row.transform((row) => {
      rowsOfTurn += 1;
      return row;
    });
    const values = Array.from({ length: 10_000 }, (_, id) => ({ id }));
    expect((await decodePage(values, same, counted, turn)).rows).toEqual(values);
    expect(turns).toBe(99);
  });
});
