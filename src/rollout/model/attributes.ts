import { sumOf } from '../../base/grouping.ts';
import { eachInSteps, mapInSteps, runAtOnce, type Steps, sortInSteps } from '../../base/steps.ts';
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

export interface AttributeColumn {
  /** `osName`, `hostPrefix`, `fields.rack`. */
  readonly key: string;
  readonly values: readonly string[];
  /** For each of `ids`, the index of its value in `values`; -1 without a value. */
  readonly cells: readonly number[];
}

/** A value that ends in `*` matches all values with this prefix. */
export interface Attribute {
  readonly key: string;
  readonly value: string;
}

// Longer texts are usually unique to one collector.
const valueLengthMax = 64;

// Collectors may have hundreds of fields. The most frequent ones are kept.
const fieldsMax = 24;

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

const hostPrefixKey = 'hostPrefix';
const fieldPrefix = 'fields.';
const keysBesideFields: readonly string[] = [...sharedKeys, hostPrefixKey];

/** The value of a collector's attribute; undefined if it is empty. */
function attributeOf(collector: FleetCollector, key: string): string | undefined {
  // All other keys are also keys of policies.
  const value =
    key === hostPrefixKey ? hostPrefixOf(collector.hostName) : valueUnder(collector, key as CollectorKey);
  return value === '' ? undefined : value.slice(0, valueLengthMax);
}

/** The text before the last number of the first label: `web-fra-` for `web-fra-017.example.com`. */
function hostPrefixOf(hostName: string): string {
  const [label = ''] = hostName.split('.');
  return /^(.*\D)\d+\D*$/u.exec(label)?.[1] ?? label;
}

/** Tabulates the attributes of collectors. */
export function* tabulateAttributes(collectors: readonly FleetCollector[]): Steps<AttributeTable> {
  const rows = yield* sortInSteps(collectors, (a, b) => a.id - b.id);
  const columns: AttributeColumn[] = [];
  let textLength = 0;
  for (const key of [...keysBesideFields, ...(yield* frequentFields(rows))]) {
    const column = yield* columnOf(key, rows, (collector) => attributeOf(collector, key));
    const length = sumOf(column.values, (value) => value.length);
    if (length === 0 || textLength + length > textLengthMax) continue;
    textLength += length;
    columns.push(column);
  }
  return { ids: rows.map(({ id }) => id), columns };
}

function* frequentFields(collectors: readonly FleetCollector[]): Steps<readonly string[]> {
  const counts = new Map<string, number>();
  yield* eachInSteps(collectors, ({ fields }) => {
    for (const name of Object.keys(fields))
      if (fields[name] !== '' && name.length <= valueLengthMax) counts.set(name, (counts.get(name) ?? 0) + 1);
  });
  return [...counts]
    .sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
    .slice(0, fieldsMax)
    .map(([name]) => `${fieldPrefix}${name}`);
}

function* columnOf<Row>(
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
  return { key, values: [...places.keys()], cells };
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

/** The collectors that have all of these attributes. */
export function membersWith(table: AttributeTable, attributes: readonly Attribute[]): readonly number[] {
  const tests = attributes.map(({ key, value }) => {
    const column = table.columns.find((each) => each.key === key);
    const isWanted = column?.values.map((own) => matchesValue(own, value)) ?? [];
    return (row: number) => isWanted[column?.cells[row] ?? -1] === true;
  });
  return table.ids.filter((_id, row) => tests.every((test) => test(row)));
}

/** Whether a collector has all of these attributes. */
export function hasAttributes(collector: FleetCollector, attributes: readonly Attribute[]): boolean {
  return attributes.every(({ key, value }) => matchesValue(attributeOf(collector, key), value));
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

/** Number of failed upgrades among those that ended. */
export interface Tally {
  readonly failed: number;
  readonly tried: number;
}

/** The results of a group, and of all other collectors. */
export interface OutlierTally extends Tally {
  readonly elsewhere: Tally;
}

/** What the failures of a rollout have in common, with the results of the collectors with these attributes. */
export interface SharedAttribute extends OutlierTally {
  /** One or two. */
  readonly attributes: readonly Attribute[];
  /** Share of the plan's collectors that have them. */
  readonly share: number;
}

/** Ids of collectors that failed, and of those that were upgraded. */
export interface Outcomes {
  readonly failed: ReadonlySet<number>;
  readonly succeeded: ReadonlySet<number>;
}
