import { eachInSteps, mapInSteps, runAtOnce, type Steps, sortInSteps } from '../../base/steps.ts';
import { type FleetCollector, valueUnder } from './collector.ts';
import type { CollectorKey } from './policy.ts';

/**
 * What the collectors of a plan were like when it was frozen: the memory behind "what do the failures have in common".
 * One column for each attribute, so that 100,000 collectors stay small.
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
  /** For each of `ids`, its value's place in `values`; -1 where it has none. */
  readonly cells: readonly number[];
}

/** A value may end in `*`: then it is the beginning of a value. */
export interface Attribute {
  readonly key: string;
  readonly value: string;
}

// A longer text tells one collector from another, and says nothing that many share.
const valueLengthMax = 64;

// A service may give each collector hundreds of fields: the most frequent ones are kept.
const fieldsMax = 24;

// Of all values of a table: 4 MB before they are compressed, which 100,000 collectors with two unique texts each reach.
const textLengthMax = 4_000_000;

/** What collectors may have in common beside their fields: a host name is one collector's own. */
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

/** What a collector has under a key; undefined where it has nothing: an empty text is not an attribute. */
function attributeOf(collector: FleetCollector, key: string): string | undefined {
  // All others are keys of a policy, too.
  const value =
    key === hostPrefixKey ? hostPrefixOf(collector.hostName) : valueUnder(collector, key as CollectorKey);
  return value === '' ? undefined : value.slice(0, valueLengthMax);
}

/** `web-fra-` of `web-fra-017.example.com`: what stands before the last number of the first label. */
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
    const length = column.values.reduce((sum, value) => sum + value.length, 0);
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

/** One table of several: that of the plan, then those of late joiners. A collector counts where it stands first. */
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

/** As a person reads and writes them: `fields.rack=r7 and osName=Linux`. */
export function formatAttributes(attributes: readonly Attribute[]): string {
  return attributes.map(({ key, value }) => `${key}=${value}`).join(' and ');
}

/** Reads what `formatAttributes` writes; undefined where the text is nothing of the kind. */
export function parseAttributes(text: string): readonly Attribute[] | undefined {
  const attributes = text.split(/\s+and\s+/u).map((part): Attribute | undefined => {
    const at = part.indexOf('=');
    const [key, value] = [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    const isKnown = keysBesideFields.includes(key) || /^fields\../u.test(key);
    return at < 0 || !isKnown || value === '' ? undefined : { key, value: value.slice(0, valueLengthMax) };
  });
  return attributes.every((each) => each !== undefined) ? attributes : undefined;
}

/** How many failed, of so many that ended. */
export interface Tally {
  readonly failed: number;
  readonly tried: number;
}

/** How some did, and how all others did. */
export interface OutlierTally extends Tally {
  readonly elsewhere: Tally;
}

/** What the failures of a rollout have in common. The figures are of the collectors with these attributes. */
export interface SharedAttribute extends OutlierTally {
  /** One or two. */
  readonly attributes: readonly Attribute[];
  /** Collectors of the plan that have them, as a share of all; absent where strata alone were counted. */
  readonly share?: number;
}

/** Which collectors failed and which were upgraded; nobody else shows anything. */
export interface Outcomes {
  readonly failed: ReadonlySet<number>;
  readonly succeeded: ReadonlySet<number>;
}
