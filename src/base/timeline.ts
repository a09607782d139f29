/** A queue of items by due instant. Items of one instant come in the order of insertion. */
export interface Timeline<Thing> {
  readonly size: number;
  /** The first item, and when it is due; undefined: the queue is empty. */
  first(): { readonly at: number; readonly thing: Thing } | undefined;
  put(at: number, thing: Thing): void;
  dropFirst(): void;
}

interface Timed<Thing> {
  readonly at: number;
  readonly turn: number;
  readonly thing: Thing;
}

/** A binary heap. */
export function makeTimeline<Thing>(): Timeline<Thing> {
  const heap: Array<Timed<Thing>> = [];
  let turn = 0;
  return {
    get size() {
      return heap.length;
    },
    first: () => heap[0],
    put: (at, thing) => {
      turn += 1;
      siftUp(heap, { at, turn, thing });
    },
    dropFirst: () => {
      const last = heap.pop();
      if (last !== undefined && heap.length > 0) siftDown(heap, last);
    },
  };
}

function isSooner(a: Timed<unknown>, b: Timed<unknown>): boolean {
  return a.at < b.at || (a.at === b.at && a.turn < b.turn);
}

/** Appends an item, and moves it up to its place. */
function siftUp<Thing>(heap: Array<Timed<Thing>>, timed: Timed<Thing>): void {
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

/** Puts an item into the first place, and moves it down to its own. */
function siftDown<Thing>(heap: Array<Timed<Thing>>, timed: Timed<Thing>): void {
  let index = 0;
  for (;;) {
    const left = 2 * index + 1;
    const right = left + 1;
    const leftOne = heap[left];
    if (leftOne === undefined) break;
    const rightOne = heap[right];
    const isRight = rightOne !== undefined && isSooner(rightOne, leftOne);
    const child = isRight ? rightOne : leftOne;
    if (!isSooner(child, timed)) break;
    heap[index] = child;
    index = isRight ? right : left;
  }
  heap[index] = timed;
}
