import { sumOf } from '../../base/grouping.ts';
import type { SharedAttribute } from '../../contract/admin/rollout-status.ts';
import { type AttributeColumn, wordOf } from '../model/attribute-column.ts';
import { type AttributeTable, membersWith, type Outcomes, type Tally } from '../model/attributes.ts';

// Two failures always share some attribute.
const failuresMin = 3;
// Probability of a false positive over a whole rollout, divided among all descriptions and all times they are tested.
const chanceMax = 0.01;
// Probability for an operator who looks once, and judges the answer. A held rollout has an operator who looks.
const chanceShownMax = { running: 0.02, held: 0.05 } as const;
// Pairs are formed from the best single attributes. This many fit in one bit mask.
const pairedMax = 30;

/** The collectors with a result. Typed arrays, because all columns are read again at each failure. */
interface Sample {
  readonly columns: readonly AttributeColumn[];
  /** Their rows in the columns. */
  readonly rows: Int32Array;
  /** For each of them, 1 if it failed. */
  readonly failures: Uint8Array;
}

interface Description extends Tally {
  readonly attributes: SharedAttribute['attributes'];
}

/** One value of a column, or several values with a common prefix. */
interface Single extends Description {
  /** Index of its column. */
  readonly place: number;
  readonly column: AttributeColumn;
  /** Indexes of its values in the column. */
  readonly cells: readonly number[];
}

/**
 * Finds what failed collectors have in common: an attribute, a common prefix of its values, or a pair of attributes.
 * Collectors that match it fail significantly more often than the others.
 * @param search `of`: how many searches this is one of; more of them find more by chance. `shown`: the answer is for an operator who
 *   looks once; absent: the test is repeated at each failure
 * @returns undefined if no attribute explains the failures better than chance
 */
export function findSharedAttribute(
  table: AttributeTable,
  outcomes: Outcomes,
  search: { readonly of: number; readonly shown?: keyof typeof chanceShownMax } = { of: 1 },
): SharedAttribute | undefined {
  const sample = sampleOf(table, outcomes);
  const { rows, failures } = sample;
  const all = { failed: failures.reduce((sum, failed) => sum + failed, 0), tried: rows.length };
  const found = describeFailures(sample, all, chanceOf(all, search.shown) / search.of);
  if (found === undefined) return undefined;
  const { attributes, failed, tried } = found;
  const elsewhere = { failed: all.failed - failed, tried: all.tried - tried };
  const share = membersWith(table, attributes).length / table.ids.length;
  return { attributes, failed, tried, elsewhere, share };
}

function sampleOf({ ids, columns }: AttributeTable, { failed, succeeded }: Outcomes): Sample {
  const rows = new Int32Array(ids.length);
  const failures = new Uint8Array(ids.length);
  let size = 0;
  for (const [row, id] of ids.entries()) {
    const hasFailed = failed.has(id);
    if (!hasFailed && !succeeded.has(id)) continue;
    rows[size] = row;
    failures[size] = hasFailed ? 1 : 0;
    size += 1;
  }
  return { columns, rows: rows.subarray(0, size), failures: failures.subarray(0, size) };
}

function chanceOf({ failed }: Tally, shown: keyof typeof chanceShownMax | undefined): number {
  if (shown !== undefined) return chanceShownMax[shown];
  // The test is repeated at each failure, and consecutive tests are strongly correlated. Each doubling of failures gets
  // its share of the chance, and each test a third of that share.
  const doublings = Math.log2(failed);
  return chanceMax / (3 * doublings * (doublings + 1));
}

function describeFailures(sample: Sample, all: Tally, chance: number): Description | undefined {
  if (all.failed < failuresMin || all.failed === all.tried) return undefined;
  const singles = sample.columns.flatMap((column, place) => describeValues(column, place, sample));
  const suspects = singles
    .filter(({ failed }) => failed >= failuresMin)
    .sort((a, b) => gainOf(b, all) - gainOf(a, all))
    .slice(0, pairedMax);
  const single = best(suspects, { all, chance: chance / singles.length });
  const pairs = pairsOf(suspects, sample).filter(({ failed }) => failed >= failuresMin);
  const pair = best(pairs, { all, chance: (chance * 2) / (singles.length * (singles.length - 1)) });
  if (pair === undefined || single === undefined) return single ?? pair;
  // A pair has to be clearly better: among many second attributes, one fits better by chance alone.
  const isClearer = gainOf(pair, all) > gainOf(single, all) + Math.log(singles.length);
  return isClearer ? pair : single;
}

/** The values of a column with enough results to be tested, and the prefixes that several values share. */
function describeValues(
  column: AttributeColumn,
  place: number,
  { rows, failures }: Sample,
): readonly Single[] {
  const { key, values, cells } = column;
  const failedOf = new Int32Array(values.length);
  const triedOf = new Int32Array(values.length);
  for (let index = 0; index < rows.length; index += 1) {
    const cell = cells[rows[index] ?? -1] ?? -1;
    if (cell < 0) continue;
    failedOf[cell] = (failedOf[cell] ?? 0) + (failures[index] ?? 0);
    triedOf[cell] = (triedOf[cell] ?? 0) + 1;
  }
  const tried = values.flatMap((value, cell) => ((triedOf[cell] ?? 0) > 0 ? [{ value, cell }] : []));
  const families = new Map<string, number[]>();
  for (const { value, cell } of tried) {
    const word = wordOf(value);
    if (word !== undefined) families.set(word, [...(families.get(word) ?? []), cell]);
  }
  const cellsWith = (prefix: string) =>
    tried.flatMap(({ value, cell }) => (value.startsWith(prefix) ? [cell] : []));
  const groups = [
    ...tried.map(({ value, cell }) => ({ value, wanted: [cell] })),
    ...[...families].flatMap(([word, cellsOf]) =>
      cellsOf.length > 1 ? [{ value: `${word}*`, wanted: cellsWith(word) }] : [],
    ),
  ];
  return groups
    .map(({ value, wanted }): Single => {
      const attributes = [{ key, value }];
      const tally = {
        failed: sumOf(wanted, (cell) => failedOf[cell] ?? 0),
        tried: sumOf(wanted, (cell) => triedOf[cell] ?? 0),
      };
      return { attributes, place, column, cells: wanted, ...tally };
    })
    .filter((single) => single.tried >= failuresMin);
}

/** Pairs of attributes with different keys, where each attribute narrows down the other. */
function pairsOf(singles: readonly Single[], { rows, failures }: Sample): readonly Description[] {
  const masks = new Int32Array(rows.length);
  for (const [place, { column, cells }] of singles.entries()) {
    const wanted = new Uint8Array(column.values.length);
    for (const cell of cells) wanted[cell] = 1;
    for (let index = 0; index < rows.length; index += 1)
      if (wanted[column.cells[rows[index] ?? -1] ?? -1] === 1)
        masks[index] = (masks[index] ?? 0) | (1 << place);
  }
  const byMask = new Map<number, { failed: number; tried: number }>();
  for (const [index, mask] of masks.entries()) {
    const sum = byMask.get(mask) ?? { failed: 0, tried: 0 };
    sum.failed += failures[index] ?? 0;
    sum.tried += 1;
    byMask.set(mask, sum);
  }
  const sums = [...byMask];
  return singles.flatMap((one, first) =>
    singles.slice(first + 1).flatMap((other, offset) => {
      if (one.column === other.column) return [];
      const both = (1 << first) | (1 << (first + 1 + offset));
      let [failed, tried] = [0, 0];
      for (const [mask, sum] of sums) {
        if ((mask & both) !== both) continue;
        failed += sum.failed;
        tried += sum.tried;
      }
      if (tried === one.tried || tried === other.tried) return [];
      // A fixed order gives each pair one name.
      const attributes = [one, other].sort((a, b) => a.place - b.place).flatMap((each) => each.attributes);
      return [{ attributes, failed, tried }];
    }),
  );
}

/** The best description among those that explain the failures better than chance. */
function best<D extends Description>(
  descriptions: readonly D[],
  { all, chance }: { readonly all: Tally; readonly chance: number },
): D | undefined {
  return descriptions
    .filter((each) => each.tried < all.tried && rateOf(each) > rateOf(all))
    .sort((a, b) => gainOf(b, all) - gainOf(a, all))
    .find((each) => isBelow(chance, each, all));
}

/** Log-likelihood gain if collectors that match the description have their own failure rate. */
function gainOf({ failed, tried }: Tally, all: Tally): number {
  const elsewhere = { failed: all.failed - failed, tried: all.tried - tried };
  return likelihoodOf({ failed, tried }) + likelihoodOf(elsewhere) - likelihoodOf(all);
}

function likelihoodOf({ failed, tried }: Tally): number {
  if (failed === 0 || failed === tried) return 0;
  return failed * Math.log(failed / tried) + (tried - failed) * Math.log1p(-failed / tried);
}

/**
 * Whether the hypergeometric probability of at least this many failures among the matching collectors is below the
 * limit. Above the mean the terms fall fast, so few are summed.
 */
function isBelow(chanceAllowed: number, { failed, tried }: Tally, all: Tally): boolean {
  const others = all.tried - tried;
  const ways = logChoose(all.tried, all.failed);
  let chance = 0;
  for (let k = failed; k <= Math.min(tried, all.failed); k += 1) {
    const term = Math.exp(logChoose(tried, k) + logChoose(others, all.failed - k) - ways);
    chance += term;
    if (chance > chanceAllowed) return false;
    if (term < chanceAllowed * 1e-6) break;
  }
  return true;
}

function logChoose(total: number, some: number): number {
  return logFactorial(total) - logFactorial(some) - logFactorial(total - some);
}

/** Stirling's approximation; an exact sum below ten, where it is too inaccurate. */
function logFactorial(n: number): number {
  if (n >= 10) return (n + 0.5) * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI) + 1 / (12 * n);
  let logs = 0;
  for (let k = 2; k <= n; k += 1) logs += Math.log(k);
  return logs;
}

function rateOf({ failed, tried }: Tally): number {
  return tried === 0 ? 0 : failed / tried;
}
