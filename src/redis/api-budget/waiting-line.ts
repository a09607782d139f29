import type { BudgetClass } from '../../orchestrator/ports/api-budget.ts';

/** Requests of equal priority, the oldest first. */
interface Queue<T> {
  readonly waiters: Set<T>;
  /** After so many turns of other queues it goes before the more urgent ones, so that none starves at a low rate. */
  readonly turnsOfOthersMax: number;
  turnsOfOthers: number;
}

/**
 * Requests that wait for the budget, and the order in which they are sent (DESIGN §3, The API budget). Operators go
 * first, then verifications, creates, polls and pages. But while they wait, every fourth turn belongs to polls and
 * pages, and at least every tenth to creates, and to verifications.
 */
export function makeWaitingLine<T>() {
  const operator = makeQueue<T>(Number.POSITIVE_INFINITY);
  const verify = makeQueue<T>(7);
  const create = makeQueue<T>(7);
  // Polls free the upgrade slots that creates fill. Without their share, creates would use all slots and then wait.
  const poll = makeQueue<T>(3);
  const queues: Readonly<Record<BudgetClass, Queue<T>>> = { operator, verify, create, poll, page: poll };
  const urgentFirst = [operator, verify, create, poll];

  return {
    get size(): number {
      return urgentFirst.reduce((sum, { waiters }) => sum + waiters.size, 0);
    },
    add: (budgetClass: BudgetClass, waiter: T): void => {
      queues[budgetClass].waiters.add(waiter);
    },
    remove: (waiter: T): void => {
      for (const { waiters } of urgentFirst) waiters.delete(waiter);
    },
    /** All waiting requests, in no order. */
    all: (): readonly T[] => urgentFirst.flatMap(({ waiters }) => [...waiters]),
    /** Removes and returns the next one. */
    takeNext: (): T | undefined => {
      const waiting = urgentFirst.filter(({ waiters }) => waiters.size > 0);
      const overdue = waiting.findLast((queue) => queue.turnsOfOthers >= queue.turnsOfOthersMax);
      const next = overdue ?? waiting[0];
      const [waiter] = next?.waiters ?? [];
      if (next === undefined || waiter === undefined) return undefined;
      next.waiters.delete(waiter);
      for (const queue of urgentFirst) queue.turnsOfOthers = queue === next ? 0 : queue.turnsOfOthers + 1;
      return waiter;
    },
  };
}

function makeQueue<T>(turnsOfOthersMax: number): Queue<T> {
  return { waiters: new Set(), turnsOfOthersMax, turnsOfOthers: 0 };
}
