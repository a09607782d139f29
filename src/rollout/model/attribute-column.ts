import { mapInSteps, type Steps } from '../../base/steps.ts';

/** One attribute of all collectors of a plan. */
export interface AttributeColumn {
  /** `osName`, `hostPrefix`, `fields.rack`. */
  readonly key: string;
  readonly values: readonly string[];
  /** For each collector, the index of its value in `values`; -1 without a value. */
  readonly cells: Cells;
}

/** Small numbers. A typed array takes 1 to 4 bytes for each, a list takes 8. */
export type Cells = ArrayLike<number> & Iterable<number>;

/** Makes a column from rows. */
export function* columnOf<Row>(
  key: string,
  rows: readonly Row[],
  textOf: (row: Row) => string | undefined,
): Steps<AttributeColumn> {
  const places = new Map<string, number>();
  const cells = yield* mapInSteps(rows, (row) => {
    const text = textOf(row);
    if (text === undefined) return -1;
    const place = places.get(text) ?? places.size;
    places.set(text, place);
    return place;
  });
  return { key, values: [...places.keys()], cells: cellsFor(places.size).from(cells) };
}

/** The smallest typed array for the indexes of so many values. */
export function cellsFor(values: number): typeof Int8Array | typeof Int16Array | typeof Int32Array {
  if (values <= 0x7f) return Int8Array;
  return values <= 0x7fff ? Int16Array : Int32Array;
}

/** The letters at the beginning of a value, which several values may share: `Windows` for `Windows Server 2019`. */
export function wordOf(value: string): string | undefined {
  return /^\p{L}{3,}/u.exec(value)?.[0];
}

// A smaller group is no evidence (`failuresMin` in `shared-attribute.ts`), and few groups that small matter to a large fleet.
const groupMin = 3;
const groupShareMin = 0.001;

// 64 equal groups. Finer ones tell no more: each of them is smaller.
const bitsMax = 6;

/**
 * How much a column can tell about failures, in bits: the entropy of its groups of collectors, without groups that are too
 * small. A constant has 0, and so has a serial number.
 */
export function informationOf({ values, cells }: AttributeColumn): number {
  const sizes = new Int32Array(values.length);
  let absent = 0;
  for (const cell of cells) {
    if (cell < 0) absent += 1;
    else sizes[cell] = (sizes[cell] ?? 0) + 1;
  }
  const least = Math.max(groupMin, groupShareMin * cells.length);
  const groups: number[] = [];
  let others = 0;
  const group = (size: number): void => {
    if (size >= least) groups.push(size);
    else others += size;
  };
  group(absent);
  const words = new Map<string, number>();
  for (const [place, value] of values.entries()) {
    const size = sizes[place] ?? 0;
    const word = size >= least ? undefined : wordOf(value);
    if (word === undefined) group(size);
    else words.set(word, (words.get(word) ?? 0) + size);
  }
  for (const size of words.values()) group(size);
  return Math.min(bitsMax, entropyOf([...groups, others], cells.length));
}

function entropyOf(sizes: readonly number[], all: number): number {
  let bits = 0;
  for (const size of sizes) if (size > 0) bits -= (size / all) * Math.log2(size / all);
  return bits;
}
