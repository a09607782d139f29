/** Something that is to happen at an instant of virtual time. */
interface Timed {
  readonly at: number;
  /** Things of one instant happen in the order in which they were asked for. */
  readonly turn: number;
  readonly happen: () => void;
}

/** Virtual time: nothing happens but what was asked for, one thing after the other, each to its rest. */
export interface Scheduler {
  now(): number;
  /** How many things have happened. */
  events(): number;
  at(instant: number, happen: () => void): void;
  /** Runs until nothing is left, `isOver` says so, or this instant has come. */
  run(until: number, isOver: () => boolean): Promise<'empty' | 'over' | 'late'>;
}

export function makeScheduler(startsAt: number): Scheduler {
  let now = startsAt;
  let turn = 0;
  let events = 0;
  const heap: Timed[] = [];

  const step = (until: number, isOver: () => boolean): 'empty' | 'over' | 'late' | undefined => {
    if (isOver()) return 'over';
    const next = heap[0];
    if (next === undefined) return 'empty';
    if (next.at > until) return 'late';
    pop(heap);
    now = Math.max(now, next.at);
    events += 1;
    next.happen();
    return undefined;
  };

  return {
    now: () => now,
    events: () => events,
    at: (instant, happen) => {
      turn += 1;
      // Clocks count whole milliseconds.
      push(heap, { at: Math.max(now, Math.round(instant)), turn, happen });
    },
    run: (until, isOver) =>
      new Promise((resolve, reject) => {
        const turnOver = () => {
          try {
            const end = step(until, isOver);
            if (end === undefined) afterAllPromises();
            else resolve(end);
          } catch (error) {
            reject(error);
          }
        };
        // What is asked for from within a promise's turn comes when every promise that can go on has done so.
        const askForTurn = () => process.nextTick(turnOver);
        const afterAllPromises = () => void settled.then(askForTurn);
        afterAllPromises();
      }),
  };
}

const settled = Promise.resolve();

function isSooner(a: Timed, b: Timed): boolean {
  return a.at < b.at || (a.at === b.at && a.turn < b.turn);
}

function push(heap: Timed[], timed: Timed): void {
  let index = heap.length;
  heap.push(timed);
  while (index > 0) {
    const above = (index - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || !isSooner(timed, parent)) break;
    heap[index] = parent;
    index = above;
  }
  heap[index] = timed;
}

function pop(heap: Timed[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    const left = 2 * index + 1;
    const right = left + 1;
    const leftOne = heap[left];
    if (leftOne === undefined) break;
    const rightOne = heap[right];
    const isRight = rightOne !== undefined && isSooner(rightOne, leftOne);
    const child = isRight ? rightOne : leftOne;
    if (!isSooner(child, last)) break;
    heap[index] = child;
    index = isRight ? right : left;
  }
  heap[index] = last;
}
