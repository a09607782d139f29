/** Counts equal values, in the order of their first occurrence. */
export function countEach<Value>(values: Iterable<Value>): Map<Value, number> {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Counts equal values, the most frequent first; equally frequent ones in the order of their first occurrence. */
export function mostFrequent<Value>(values: Iterable<Value>): ReadonlyArray<readonly [Value, number]> {
  return [...countEach(values)].sort(([, one], [, other]) => other - one);
}

/** Adds up a figure of each item. */
export function sumOf<Item>(items: Iterable<Item>, figureOf: (item: Item) => number): number {
  let sum = 0;
  for (const item of items) sum += figureOf(item);
  return sum;
}

/** Groups items by a key. Keys are in the order of their first occurrence, and items keep their order. */
export function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
