interface Timed<Thing> {
  readonly at: number;
  readonly thing: Thing;
}

/** A queue of items by due instant. Items of one instant come in the order of insertion. */
export function makeTimeline<Thing>() {
  // The next item is the last one, so that it is removed at no cost.
  const items: Array<Timed<Thing>> = [];
  return {
    /** The first item, and when it is due; undefined: the queue is empty. */
    first: (): Timed<Thing> | undefined => items.at(-1),
    put: (at: number, thing: Thing): void => {
      let from = 0;
      for (let to = items.length; from < to; ) {
        const middle = (from + to) >> 1;
        if ((items[middle]?.at ?? at) > at) from = middle + 1;
        else to = middle;
      }
      items.splice(from, 0, { at, thing });
    },
    dropFirst: (): void => void items.pop(),
  };
}
