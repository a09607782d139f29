import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BudgetClass } from '../../../../src/orchestrator/ports/api-budget.ts';
import { makeWaitingLine } from '../../../../src/redis/api-budget/waiting-line.ts';

const budgetClass = fc.constantFrom<BudgetClass>('operator', 'verify', 'create', 'poll', 'page');

describe('the waiting line', () => {
  it('starves no request: a waiting poll or page is sent within four turns, oldest first', () => {
    fc.assert(
      fc.property(fc.array(budgetClass, { maxLength: 60 }), (classes) => {
        const line = makeWaitingLine<{ budgetClass: BudgetClass; place: number }>();
        classes.forEach((each, place) => {
          line.add(each, { budgetClass: each, place });
        });
        let turnsWithoutPoll = 0;
        let lastPoll = -1;
        for (let size = classes.length; size > 0; size -= 1) {
          const looksWait = line.size > 0 && classes.some((each, place) => isLook(each) && place > lastPoll);
          const next = line.takeNext();
          if (next === undefined) throw new Error('the line lost someone');
          if (isLook(next.budgetClass)) {
            expect(next.place).toBeGreaterThan(lastPoll);
            lastPoll = next.place;
            turnsWithoutPoll = 0;
          } else if (looksWait) {
            turnsWithoutPoll += 1;
          }
          expect(turnsWithoutPoll).toBeLessThanOrEqual(3);
        }
        expect(line.takeNext()).toBeUndefined();
      }),
    );
  });

  it.each<readonly [waits: BudgetClass, every: number]>([
    ['verify', 10],
    ['create', 10],
    ['poll', 4],
    ['page', 4],
  ])('gives a %s one turn in %i, whatever else waits', (waits, every) => {
    const line = makeWaitingLine<{ readonly is: BudgetClass }>();
    const others = (['operator', 'verify', 'create', 'poll'] as const).filter(
      (each) => each !== waits && !(waits === 'page' && each === 'poll'),
    );
    const turns = 400;
    for (let turn = 0; turn < turns; turn += 1)
      for (const each of [...others, waits]) line.add(each, { is: each });
    const taken = Array.from({ length: turns }, () => line.takeNext()?.is);
    expect(taken.filter((each) => each === waits).length).toBeGreaterThanOrEqual(turns / every);
    // The rest is for people, who wait in front of a screen.
    expect(taken.filter((each) => each === 'operator').length).toBeGreaterThanOrEqual(turns / 2 - 1);
  });

  it("sends operators' requests before verifications before creates, each in order of arrival", () => {
    const line = makeWaitingLine<string>();
    line.add('create', 'c1');
    line.add('verify', 'v1');
    line.add('operator', 'o1');
    line.add('verify', 'v2');
    line.add('create', 'gone');
    line.remove('gone');
    expect(line.size).toBe(4);
    const taken = Array.from({ length: 5 }, () => line.takeNext());
    expect(taken).toEqual(['o1', 'v1', 'v2', 'c1', undefined]);
  });
});

function isLook(budgetClass: BudgetClass): boolean {
  return budgetClass === 'poll' || budgetClass === 'page';
}
