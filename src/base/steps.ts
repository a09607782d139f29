/** Pure work in small steps. After each step it can pause, so that the caller can let other work use the event loop. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** The most expensive work on an item takes microseconds, so a step takes about a millisecond. */
const itemsPerStep = 500;

/** Runs all steps at once. */
export function runAtOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Visits each item. */
export function* eachInSteps<Item>(
  items: Iterable<Item>,
  visit: (item: Item, index: number) => void,
): Steps<void> {
  let index = 0;
  for (const item of items) {
    visit(item, index);
    index += 1;
    if (index % itemsPerStep === 0) yield;
  }
}

/** Like `items.map(map)`. */
export function* mapInSteps<Item, Mapped>(
  items: readonly Item[],
  map: (item: Item, index: number) => Mapped,
): Steps<Mapped[]> {
  const mapped: Mapped[] = [];
  yield* eachInSteps(items, (item, index) => void mapped.push(map(item, index)));
  return mapped;
}

/** Like `items.filter(isKept)`. */
export function* filterInSteps<Item>(items: readonly Item[], isKept: (item: Item) => boolean): Steps<Item[]> {
  const kept: Item[] = [];
  yield* eachInSteps(items, (item) => {
    if (isKept(item)) kept.push(item);
  });
  return kept;
}

/** Like `items.toSorted(compare)`. It merges sorted runs, two at a time, and is stable. */
export function* sortInSteps<Item>(
  items: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Steps<readonly Item[]> {
  let runs: Item[][] = [];
  for (let from = 0; from < items.length; from += itemsPerStep) {
    runs.push(items.slice(from, from + itemsPerStep).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: Item[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(yield* mergeInSteps(runs[at] ?? [], runs[at + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergeInSteps<Item>(
  left: readonly Item[],
  right: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Steps<Item[]> {
  const merged: Item[] = [];
  const others = right[Symbol.iterator]();
  let other = others.next();
  for (const item of left) {
    for (; other.done !== true && compare(other.value, item) < 0; other = others.next()) {
      merged.push(other.value);
      if (merged.length % itemsPerStep === 0) yield;
    }
    merged.push(item);
    if (merged.length % itemsPerStep === 0) yield;
  }
  for (; other.done !== true; other = others.next()) {
    merged.push(other.value);
    if (merged.length % itemsPerStep === 0) yield;
  }
  return merged;
}
