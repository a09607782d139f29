import type { Steps } from './steps.ts';
import type { DurationMs } from './time.ts';

/** Divides long work into slices, so that other work can use the event loop between them. */
export interface TurnBudget {
  /** True when this turn of the event loop has used its share. Continue after `next`. */
  isSpent(): boolean;
  /** Resolves in a later turn. */
  next(): Promise<void>;
}

/** A tenth of the time that `/healthz` may take. All users of a budget share it. */
const turnMs: DurationMs = 8;

/** @param clock the clock of the surrounding code: a virtual clock that does not advance ends no turn */
export function makeTurnBudget(clock: { now(): DurationMs } = performance): TurnBudget {
  let beganAt: DurationMs | undefined;
  return {
    isSpent: () => {
      if (beganAt === undefined) {
        beganAt = clock.now();
        setImmediate(() => {
          beganAt = undefined;
        });
      }
      return clock.now() - beganAt >= turnMs;
    },
    next: () => new Promise((resolve) => setImmediate(resolve)),
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
