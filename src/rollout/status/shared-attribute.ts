import { sumOf } from '../../base/grouping.ts';
import {
  type AttributeColumn,
  type AttributeTable,
  membersWith,
  type Outcomes,
  type SharedAttribute,
  type Tally,
} from '../model/attributes.ts';

// Two failures always share some attribute.
const failuresMin = 3;
// Probability of a false positive over a whole rollout, divided among all descriptions and all times they are tested.
const chanceMax = 0.01;
// Pairs are formed from the best single attributes. This many fit in one bit mask.
const pairedMax = 30;

/** Collectors with their results. */
interface Sample {
  readonly columns: readonly AttributeColumn[];
  /** By row. */
  readonly tallies: readonly Tally[];
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
  readonly wanted: ReadonlySet<number>;
}

/**
 * Finds what failed collectors have in common: an attribute, a common prefix of its values, or a pair of attributes.
 * Collectors that match it fail significantly more often than the others.
 * @returns undefined if no attribute explains the failures better than chance
 */
export function findSharedAttribute(table: AttributeTable, outcomes: Outcomes): SharedAttribute | undefined {
  const rows = table.ids.flatMap((id, row) => {
    const failed = Number(outcomes.failed.has(id));
    return failed === 1 || outcomes.succeeded.has(id) ? [{ row, tally: { failed, tried: 1 } }] : [];
  });
  const columns = table.columns.map(({ key, values, cells }) => ({
    key,
    values,
    cells: rows.map(({ row }) => cells[row] ?? -1),
  }));
  const tallies = rows.map(({ tally }) => tally);
  const all = tallyOf(tallies);
  const found = describeFailures({ columns, tallies }, all);
  if (found === undefined) return undefined;
  const { attributes, failed, tried } = found;
  const elsewhere = { failed: all.failed - failed, tried: all.tried - tried };
  const share = membersWith(table, attributes).length / table.ids.length;
  return { attributes, failed, tried, elsewhere, share };
}

function describeFailures(sample: Sample, all: Tally): Description | undefined {
  if (all.failed < failuresMin || all.failed === all.tried) return undefined;
  const singles = sample.columns.flatMap((column, place) => describeValues(column, place, sample.tallies));
  const suspects = singles
    .filter(({ failed }) => failed >= failuresMin)
    .sort((a, b) => gainOf(b, all) - gainOf(a, all))
    .slice(0, pairedMax);
  // The test is repeated at each failure, and consecutive tests are strongly correlated. Each doubling of failures gets
  // its share of `chanceMax`, and each test a third of that share.
  const doublings = Math.log2(all.failed);
  const chance = chanceMax / (3 * doublings * (doublings + 1));
  const single = best(suspects, { all, chance: chance / singles.length });
  const pairs = pairsOf(suspects, sample.tallies).filter(({ failed }) => failed >= failuresMin);
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
  tallies: readonly Tally[],
): readonly Single[] {
  const { key, values, cells } = column;
  const sums = values.map(() => ({ failed: 0, tried: 0 }));
  for (const [row, cell] of cells.entries()) {
    const sum = sums[cell];
    if (sum === undefined) continue;
    sum.failed += tallies[row]?.failed ?? 0;
    sum.tried += tallies[row]?.tried ?? 0;
  }
  const tried = values.flatMap((value, cell) => ((sums[cell]?.tried ?? 0) > 0 ? [{ value, cell }] : []));
  const families = new Map<string, number[]>();
  for (const { value, cell } of tried) {
    const word = /^\p{L}{3,}/u.exec(value)?.[0];
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
      const tally = tallyOf(wanted.flatMap((cell) => sums[cell] ?? []));
      return { attributes, place, column, wanted: new Set(wanted), ...tally };
    })
    .filter((single) => single.tried >= failuresMin);
}

/** Pairs of attributes with different keys, where each attribute narrows down the other. */
function pairsOf(singles: readonly Single[], tallies: readonly Tally[]): readonly Description[] {
  const byMask = new Map<number, { failed: number; tried: number }>();
  for (const [row, tally] of tallies.entries()) {
    let mask = 0;
    for (const [index, { column, wanted }] of singles.entries())
      if (wanted.has(column.cells[row] ?? -1)) mask |= 1 << index;
    const sum = byMask.get(mask) ?? { failed: 0, tried: 0 };
    sum.failed += tally.failed;
    sum.tried += tally.tried;
    byMask.set(mask, sum);
  }
  const masks = [...byMask];
  return singles.flatMap((one, first) =>
    singles.slice(first + 1).flatMap((other, offset) => {
      if (one.column === other.column) return [];
      const both = (1 << first) | (1 << (first + 1 + offset));
      let [failed, tried] = [0, 0];
      for (const [mask, sum] of masks) {
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

function logChoose(of: number, some: number): number {
  return logFactorial(of) - logFactorial(some) - logFactorial(of - some);
}

/** Stirling's approximation; an exact sum below ten, where it is too inaccurate. */
function logFactorial(n: number): number {
  if (n >= 10) return (n + 0.5) * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI) + 1 / (12 * n);
  let logs = 0;
  for (let k = 2; k <= n; k += 1) logs += Math.log(k);
  return logs;
}

function tallyOf(tallies: readonly Tally[]): Tally {
  return { failed: sumOf(tallies, ({ failed }) => failed), tried: sumOf(tallies, ({ tried }) => tried) };
}

function rateOf({ failed, tried }: Tally): number {
  return tried === 0 ? 0 : failed / tried;
}
