import { sumOf } from '../../base/grouping.ts';
import { nearestText } from '../../base/names.ts';
import { eachInSteps, runAtOnce, type Steps, sortInSteps } from '../../base/steps.ts';
import { type AttributeColumn, columnOf, informationOf } from './attribute-column.ts';
import { type FleetCollector, valueUnder } from './collector.ts';
import type { CollectorKey } from './policy.ts';

/**
 * The attributes of a plan's collectors when it was frozen, to find what failures have in common. Stored by column to save
 * memory with 100,000 collectors.
 */
export interface AttributeTable {
  /** Collectors, ascending. */
  readonly ids: readonly number[];
  readonly columns: readonly AttributeColumn[];
}

/** A table, and what it has no room for. */
export interface TabulatedAttributes extends AttributeTable {
  /** Names of fields that could tell something about failures, the most telling first. */
  readonly leftOut: readonly string[];
}

/** A value that ends in `*` matches all values with this prefix. */
export interface Attribute {
  readonly key: string;
  readonly value: string;
}

// Longer texts are usually unique to one collector.
const valueLengthMax = 64;

// Collectors may have hundreds of fields. Those that can tell most about failures are kept.
const fieldsMax = 64;

// More names are not even weighed: the most frequent ones are.
const fieldsWeighedMax = 500;

// More names of left-out fields help nobody.
const leftOutMax = 50;

// Total length of a table's values: 4 MB before compression, as with 100,000 collectors with two unique texts each.
const textLengthMax = 4_000_000;

/** Keys that collectors may share, beside fields. A host name belongs to one collector. */
export const sharedKeys = [
  'osName',
  'osArch',
  'collectorVersion',
  'category',
  'timeZone',
  'sourceSyncMode',
  'ephemeral',
] as const satisfies readonly CollectorKey[];

/** Keys of prefixes, with the text that has the prefix. */
const prefixKeys: Readonly<Record<string, (collector: FleetCollector) => string>> = {
  hostPrefix: ({ hostName }) => hostName,
  namePrefix: ({ name }) => name,
};

const fieldPrefix = 'fields.';
const keysBesideFields: readonly string[] = [...sharedKeys, ...Object.keys(prefixKeys)];

/** The value of a collector's attribute; undefined if it is empty. */
function attributeOf(collector: FleetCollector, key: string): string | undefined {
  const prefixed = prefixKeys[key];
  // All other keys are also keys of policies.
  const value =
    prefixed === undefined ? valueUnder(collector, key as CollectorKey) : prefixOf(prefixed(collector));
  return value === '' ? undefined : value.slice(0, valueLengthMax);
}

/** The text before the last number of the first label: `web-fra-` for `web-fra-017.example.com`. */
function prefixOf(name: string): string {
  const [label = ''] = name.split('.');
  return /^(.*\D)\d+\D*$/u.exec(label)?.[1] ?? label;
}

/**
 * Tabulates the attributes of collectors: of more than 64 fields those that can tell most about failures.
 * @param without fields that the plan of the collectors has no room for
 */
export function* tabulateAttributes(
  collectors: readonly FleetCollector[],
  without: readonly string[] = [],
): Steps<TabulatedAttributes> {
  const rows = yield* sortInSteps(collectors, (a, b) => a.id - b.id);
  const columns: AttributeColumn[] = [];
  for (const key of keysBesideFields)
    columns.push(yield* columnOf(key, rows, (collector) => attributeOf(collector, key)));
  const fields = yield* weighFields(rows, new Set(without));
  const leftOut: string[] = fields.leftOut;
  let textLength = 0;
  const kept = [...columns.map((column) => ({ column, bits: 0 })), ...fields.kept].filter(
    ({ column, bits }) => {
      const length = sumOf(column.values, (value) => value.length);
      const fits = textLength + length <= textLengthMax;
      if (fits) textLength += length;
      else if (bits > 0) leftOut.unshift(column.key.slice(fieldPrefix.length));
      return fits && length > 0;
    },
  );
  return {
    ids: rows.map(({ id }) => id),
    columns: kept.map(({ column }) => column),
    leftOut: leftOut.slice(0, leftOutMax),
  };
}

interface WeighedField {
  readonly column: AttributeColumn;
  readonly bits: number;
}

/** The fields that can tell most about failures, and the names of the others that can tell something; the best first. */
function* weighFields(
  rows: readonly FleetCollector[],
  without: ReadonlySet<string>,
): Steps<{ readonly kept: readonly WeighedField[]; readonly leftOut: string[] }> {
  let kept: WeighedField[] = [];
  const others: WeighedField[] = [];
  for (const name of yield* frequentFields(rows)) {
    if (without.has(name)) continue;
    const key = `${fieldPrefix}${name}`;
    const column = yield* columnOf(key, rows, (collector) => attributeOf(collector, key));
    // The sort is stable, so that of equals the more frequent field comes first.
    kept = [...kept, { column, bits: informationOf(column) }].sort((a, b) => b.bits - a.bits);
    const last = kept.length > fieldsMax ? kept.pop() : undefined;
    // Only its name is needed. The cells of hundreds of fields would be too many.
    if (last !== undefined && last.bits > 0)
      others.push({ ...last, column: { ...last.column, values: [], cells: [] } });
  }
  others.sort((a, b) => b.bits - a.bits);
  return { kept, leftOut: others.map(({ column }) => column.key.slice(fieldPrefix.length)) };
}

/** Names of fields, the most frequent first. */
function* frequentFields(collectors: readonly FleetCollector[]): Steps<readonly string[]> {
  const counts = new Map<string, number>();
  yield* eachInSteps(collectors, ({ fields }) => {
    for (const name of Object.keys(fields))
      if (fields[name] !== '' && name.length <= valueLengthMax) counts.set(name, (counts.get(name) ?? 0) + 1);
  });
  return [...counts]
    .sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
    .slice(0, fieldsWeighedMax)
    .map(([name]) => name);
}

/** Joins the tables of the plan and of its late joiners. The first row of each collector counts. */
export function joinTables(tables: readonly AttributeTable[]): AttributeTable | undefined {
  const [first, ...others] = tables;
  if (first === undefined || others.length === 0) return first;
  const rows = new Map<number, ReadonlyMap<string, string>>();
  for (const table of tables) {
    for (const [row, id] of table.ids.entries()) {
      if (rows.has(id)) continue;
      rows.set(id, new Map(table.columns.flatMap((column) => valueIn(column, row))));
    }
  }
  const keys = new Set(tables.flatMap(({ columns }) => columns.map(({ key }) => key)));
  const ids = [...rows.keys()].sort((a, b) => a - b);
  const columns = [...keys].map((key) => runAtOnce(columnOf(key, ids, (id) => rows.get(id)?.get(key))));
  return { ids, columns };
}

function valueIn(
  { key, values, cells }: AttributeColumn,
  row: number,
): ReadonlyArray<readonly [string, string]> {
  const value = values[cells[row] ?? -1];
  return value === undefined ? [] : [[key, value]];
}

/** The attributes of one collector in a table; empty where the table does not have it. */
export function attributesIn(table: AttributeTable, id: number): readonly Attribute[] {
  const row = table.ids.indexOf(id);
  return table.columns.flatMap((column) => valueIn(column, row)).map(([key, value]) => ({ key, value }));
}

/** The attributes of a collector, by which its failures may be explained, and which an operator may hold. */
export function attributesOf(collector: FleetCollector): readonly Attribute[] {
  const keys = [...keysBesideFields, ...Object.keys(collector.fields).map((name) => `${fieldPrefix}${name}`)];
  return keys.flatMap((key) => {
    const value = attributeOf(collector, key);
    return value === undefined ? [] : [{ key, value }];
  });
}

/** The collectors that have all of these attributes. */
export function membersWith(table: AttributeTable, attributes: readonly Attribute[]): readonly number[] {
  const tests = attributes.map(({ key, value }) => {
    const column = table.columns.find((each) => each.key === key);
    const isWanted = column?.values.map((own) => matchesValue(own, value)) ?? [];
    return (row: number) => isWanted[column?.cells[row] ?? -1] === true;
  });
  return table.ids.filter((_id, row) => tests.every((test) => test(row)));
}

// More values, such as host names, would take long to compare.
const valuesNearMax = 1_000;

/** Attributes of a table that share the key or the value with this one, or all values that begin like it: for a hint about a typo. */
export function attributesNear({ columns }: AttributeTable, wanted: Attribute): readonly Attribute[] {
  return columns.flatMap(({ key, values }) => {
    const isBegun = key === wanted.key && values.some((value) => value.startsWith(wanted.value));
    const near = values
      .slice(0, valuesNearMax)
      .filter((value) => value !== '' && (key === wanted.key || value === wanted.value));
    return [...(isBegun ? [`${wanted.value}*`] : []), ...near].map((value) => ({ key, value }));
  });
}

/** Whether a collector has all of these attributes. */
export function hasAttributes(collector: FleetCollector, attributes: readonly Attribute[]): boolean {
  return attributes.every(({ key, value }) => matchesValue(attributeOf(collector, key), value));
}

/** As `hasAttributes`, by attributes that were read before. */
export function areAmong(own: readonly Attribute[], wanted: readonly Attribute[]): boolean {
  return wanted.every(({ key, value }) => matchesValue(own.find((each) => each.key === key)?.value, value));
}

/** Collectors that belong to a held group. */
export function membersOfGroups(
  collectors: readonly FleetCollector[],
  groups: ReadonlyArray<{ readonly attributes: readonly Attribute[] }>,
): readonly number[] {
  if (groups.length === 0) return [];
  return collectors.flatMap((collector) =>
    groups.some(({ attributes }) => hasAttributes(collector, attributes)) ? [collector.id] : [],
  );
}

function matchesValue(own: string | undefined, value: string): boolean {
  if (own === undefined) return false;
  return value.endsWith('*') ? own.startsWith(value.slice(0, -1)) : own === value;
}

/** Formats attributes for people: `fields.rack=r7 and osName=Linux`. */
export function formatAttributes(attributes: readonly Attribute[]): string {
  return attributes.map(({ key, value }) => `${key}=${value}`).join(' and ');
}

/** Parses the format of `formatAttributes`; undefined if the text has another format. */
export function parseAttributes(text: string): readonly Attribute[] | undefined {
  const attributes = text.split(/\s+and\s+/u).map((part): Attribute | undefined => {
    const at = part.indexOf('=');
    const [key, value] = [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    const isKnown = keysBesideFields.includes(key) || /^fields\../u.test(key);
    return at < 0 || !isKnown || value === '' ? undefined : { key, value: value.slice(0, valueLengthMax) };
  });
  return attributes.every((each) => each !== undefined) ? attributes : undefined;
}

/**
 * Attributes with keys that do not exist, with the nearest ones instead; undefined if the text has another format, or no key
 * is near.
 * @param fields keys of fields that collectors have
 */
export function respellKeys(text: string, fields: readonly string[]): string | undefined {
  const known = [...keysBesideFields, ...fields];
  const parts = text.split(/\s+and\s+/u).map((part) => {
    const at = part.indexOf('=');
    const key = part.slice(0, Math.max(at, 0)).trim();
    const field = `${fieldPrefix}${key}`;
    const meant = known.includes(field) ? field : nearestText(key, known);
    return meant === undefined ? '' : `${meant}=${part.slice(at + 1).trim()}`;
  });
  return parseAttributes(parts.join(' and ')) && parts.join(' and ');
}

/** Number of failed upgrades among those that ended. */
export interface Tally {
  readonly failed: number;
  readonly tried: number;
}

/** The results of a group, and of all other collectors. */
export interface OutlierTally extends Tally {
  readonly elsewhere: Tally;
  /** Failures in neither figure: those of held strata, and acknowledged ones. Absent: none. */
  readonly uncounted?: number;
}

/** Ids of collectors that failed, and of those that were upgraded. */
export interface Outcomes {
  readonly failed: ReadonlySet<number>;
  readonly succeeded: ReadonlySet<number>;
}
