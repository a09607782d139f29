import type { Steps } from './steps.ts';
import type { DurationMs } from './time.ts';

/** Divides long work into slices, so that other work can use the event loop between them. */
export interface TurnBudget {
  /** True when this turn of the event loop has used its share, by this budget or another. Continue after `next`. */
  isSpent(): boolean;
  /** Resolves in a later turn. */
  next(): Promise<void>;
}

/** A tenth of the time that `/healthz` may take. All budgets of a process share it, because they share the event loop. */
const turnMs: DurationMs = 8;

/** The current turn of the event loop. */
const turn = { number: 0, usedMs: 0, isNextAsked: false };

/** One slice runs in a turn, in this order: long work does not hold up other work that is short. */
const waiting: Array<() => void> = [];

function askForNextTurn(): void {
  if (turn.isNextAsked) return;
  turn.isNextAsked = true;
  setImmediate(() => {
    turn.number += 1;
    turn.usedMs = 0;
    turn.isNextAsked = false;
    waiting.shift()?.();
    if (waiting.length > 0) askForNextTurn();
  });
}

/** @param clock the clock of the surrounding code: a virtual clock that does not advance ends no turn */
export function makeTurnBudget(clock: { now(): DurationMs } = performance): TurnBudget {
  let last: { readonly turn: number; readonly at: DurationMs } | undefined;
  return {
    isSpent: () => {
      const at = clock.now();
      if (last?.turn === turn.number) turn.usedMs += at - last.at;
      last = { turn: turn.number, at };
      askForNextTurn();
      return turn.usedMs >= turnMs;
    },
    next: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        askForNextTurn();
      }),
  };
}

/** Like `items.map(map)`, in slices. */
export async function mapInSlices<T, U>(
  items: readonly T[],
  turn: TurnBudget,
  map: (item: T) => U,
): Promise<readonly U[]> {
  const mapped: U[] = [];
  for (const item of items) {
    while (turn.isSpent()) await turn.next();
    mapped.push(map(item));
  }
  return mapped;
}

/** Runs pure work to its end, in slices. */
export async function runInSlices<Result>(steps: Steps<Result>, turn: TurnBudget): Promise<Result> {
  for (;;) {
    while (turn.isSpent()) await turn.next();
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
