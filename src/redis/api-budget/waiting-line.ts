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

// Polls free the slots that creates fill: without their share, creates would run into a full house and wait there.
const turnsBeforePoll = 3;

/**
 * Operators first, then verifications, then creates; but after three turns of those the oldest poll or page goes, so that
 * none starves.
 */
export function makeWaitingLine<T>(): WaitingLine<T> {
  // Polls and pages are one queue: the oldest of either goes.
  const polls = new Set<T>();
  const queues: Readonly<Record<BudgetClass, Set<T>>> = {
    operator: new Set(),
    verify: new Set(),
    create: new Set(),
    poll: polls,
    page: polls,
  };
  const urgentFirst = [queues.operator, queues.verify, queues.create];
  let turnsSincePoll = 0;

  return {
    get size() {
      return urgentFirst.reduce((sum, queue) => sum + queue.size, polls.size);
    },
    add: (budgetClass, waiter) => {
      queues[budgetClass].add(waiter);
    },
    remove: (waiter) => {
      for (const queue of [...urgentFirst, polls]) queue.delete(waiter);
    },
    all: () => [...urgentFirst, polls].flatMap((queue) => [...queue]),
    takeNext: () => {
      const isPollsTurn = turnsSincePoll >= turnsBeforePoll;
      const order = isPollsTurn ? [polls, ...urgentFirst] : [...urgentFirst, polls];
      for (const queue of order) {
        const [waiter] = queue;
        if (waiter === undefined) continue;
        queue.delete(waiter);
        turnsSincePoll = queue === polls ? 0 : turnsSincePoll + 1;
        return waiter;
      }
      return undefined;
    },
  };
}
