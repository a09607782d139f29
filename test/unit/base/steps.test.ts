import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  eachInSteps,
  filterInSteps,
  mapInSteps,
  runAtOnce,
  type Steps,
  sortInSteps,
} from '../../../src/base/steps.ts';
import { makeTurnBudget, runInSlices } from '../../../src/base/turn-budget.ts';

const thousands = Array.from({ length: 2_345 }, (_, index) => ({ index, key: (index * 7_919) % 101 }));

describe('work in steps', () => {
  it('sorts as an array does, and keeps the order of equal items', () => {
    const byKey = (a: { readonly key: number }, b: { readonly key: number }) => a.key - b.key;
    expect(runAtOnce(sortInSteps(thousands, byKey))).toEqual(thousands.toSorted(byKey));
    const numbers = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 2_000, size: 'max' });
    fc.assert(
      fc.property(numbers, (keys) => {
        const items = keys.map((key, index) => ({ key, index }));
        expect(runAtOnce(sortInSteps(items, byKey))).toEqual(items.toSorted(byKey));
      }),
      { numRuns: 30 },
    );
  });

  it('maps, filters and visits as an array does', () => {
    const isEven = ({ index }: { readonly index: number }) => index % 2 === 0;
    const visited: number[] = [];
    runAtOnce(eachInSteps(thousands, (_item, index) => void visited.push(index)));
    expect(visited).toEqual(thousands.map(({ index }) => index));
    expect(runAtOnce(mapInSteps(thousands, ({ key }, index) => key + index))).toEqual(
      thousands.map(({ key }, index) => key + index),
    );
    expect(runAtOnce(filterInSteps(thousands, isEven))).toEqual(thousands.filter(isEven));
  });

  it('yields whenever the budget of a turn is used up', async () => {
    let turns = 0;
    let stepsOfTurn = 0;
    const budget = {
      isSpent: () => stepsOfTurn >= 2,
      next: async () => {
        turns += 1;
        stepsOfTurn = 0;
      },
    };
    function* work(): Steps<string> {
      for (let step = 0; step < 6; step += 1) {
        stepsOfTurn += 1;
        yield;
      }
      return 'done';
    }
    expect(await runInSlices(work(), budget)).toBe('done');
    expect(turns).toBe(3);
  });

  it('continues without a pause while a virtual clock does not advance: a simulated night is the same each time', async () => {
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    await runInSlices(
      mapInSteps(thousands, ({ key }) => key),
      makeTurnBudget({ now: () => 0 }),
    );
    expect(turned).toBe(false);
  });
});
