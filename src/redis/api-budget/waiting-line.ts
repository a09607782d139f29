import type { BudgetClass } from '../../orchestrator/ports/api-budget.ts';

/** Requests that wait for the budget, and who of them goes next (DESIGN §3, The API budget). */
export interface WaitingLine<T> {
  readonly size: number;
  add(budgetClass: BudgetClass, waiter: T): void;
  remove(waiter: T): void;
  /** Everyone in it, in no order. */
  all(): readonly T[];
  /** Takes the next one out. */
  takeNext(): T | undefined;
}

// Looks free the slots that creates fill: without their share, creates would run into a full house and wait there.
const turnsBeforeLook = 3;

/**
 * Operators first, then proofs, then creates; but after three turns of those the oldest look or page goes, so that
 * none starves.
 */
export function makeWaitingLine<T>(): WaitingLine<T> {
  // A look and a page are one queue: the oldest of either goes.
  const looks = new Set<T>();
  const queues: Readonly<Record<BudgetClass, Set<T>>> = {
    operator: new Set(),
    verify: new Set(),
    create: new Set(),
    look: looks,
    page: looks,
  };
  const urgentFirst = [queues.operator, queues.verify, queues.create];
  let turnsSincePoll = 0;

  return {
    get size() {
      return urgentFirst.reduce((sum, queue) => sum + queue.size, looks.size);
    },
    add: (budgetClass, waiter) => {
      queues[budgetClass].add(waiter);
    },
    remove: (waiter) => {
      for (const queue of [...urgentFirst, looks]) queue.delete(waiter);
    },
    all: () => [...urgentFirst, looks].flatMap((queue) => [...queue]),
    takeNext: () => {
      const isLooksTurn = turnsSincePoll >= turnsBeforeLook;
      const order = isLooksTurn ? [looks, ...urgentFirst] : [...urgentFirst, looks];
      for (const queue of order) {
        const [waiter] = queue;
        if (waiter === undefined) continue;
        queue.delete(waiter);
        turnsSincePoll = queue === looks ? 0 : turnsSincePoll + 1;
        return waiter;
      }
      return undefined;
    },
  };
}
