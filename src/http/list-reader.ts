import type { TurnBudget } from '../base/turn-budget.ts';
import type { ListPage } from '../contract/operation.ts';
import { type BodyReader, makeByteCollector, UnreadableBody } from './body-reader.ts';
import { depthMax, parseFlatJson, type ReadJson, readJson } from './json-text.ts';

export interface ListReaderParts<Row> {
  /** The member of the body that holds the list. */
  readonly key: string;
  /** null: this row is nothing that we can use. */
  readonly decode: (value: unknown) => Row | null;
  readonly turn: TurnBudget;
}

/** The list, or what the body is instead. */
export type ReadList<Row> = { readonly kind: 'list'; readonly page: ListPage<Row> } | ReadJson;

// 1,000 collectors are about 1.5 MB of JSON; 32 MiB holds the largest page the service gives (10,000).
const bytesMax = 32 * 1024 * 1024;
const rowsMax = 10_000;

// A collector whose every text is as long as the service allows has about 10 KB.
const rowBytesMax = 64 * 1024;

// What stands around the list, or is no list at all, such as a gateway's page.
const restBytesMax = 1024 * 1024;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Where the rows of the list lie: in the list, in the body's object. */
const listDepth = 2;

/**
 * Reads a body such as `{"collectors": [row, row, …]}` row by row, as it comes. Of a row only what `decode` makes of it is
 * kept, so neither the text nor the value of the whole body is ever in memory, and a turn of the event loop parses no more
 * than its share. A row that is too large, nested too deep, or that `decode` does not know, is null.
 */
export function makeListReader<Row>({ key, decode, turn }: ListReaderParts<Row>): BodyReader<ReadList<Row>> {
  const rows = makeRows(decode);
  const scan = makeScan(key, rows, turn);
  let bytes = 0;

  async function goOn(chunk: Uint8Array, start: number): Promise<void> {
    let at = start;
    while (at < chunk.length) {
      await turn.next();
      if (!turn.isSpent()) at = scan.from(chunk, at);
    }
  }

  return {
    push: (chunk) => {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new UnreadableBody('tooLarge');
      const at = turn.isSpent() ? 0 : scan.from(chunk, 0);
      return at < chunk.length ? goOn(chunk, at) : undefined;
    },
    end: () => {
      if (scan.isTooDeep()) return { kind: 'tooDeep' };
      const read = readJson(scan.rest());
      // A list that was cut off leaves a rest that is not JSON.
      return scan.isListSeen() && read.kind === 'json' ? { kind: 'list', page: rows.page() } : read;
    },
  };
}

/** The rows of a list, decoded one by one. */
interface Rows<Row> {
  keep(chunk: Uint8Array, from: number, to: number): void;
  /** Makes null of the row that is being read. */
  spoil(): void;
  /** @param isLast a bracket ends it, so that there may be no row at all */
  end(isLast: boolean): void;
  page(): ListPage<Row>;
}

function makeRows<Row>(decode: ListReaderParts<Row>['decode']): Rows<Row> {
  const rows: (Row | null)[] = [];
  const row = makeByteCollector();
  let weight = 0;
  let isUnusable = false;

  function decodeRow(text: string): Row | null {
    const read = parseFlatJson(text);
    if (read.kind !== 'json') throw new UnreadableBody('undecodable');
    const decoded = decode(read.value);
    const rowWeight = weightOf(decoded);
    if (rowWeight > rowBytesMax) return null;
    weight += rowWeight;
    return decoded;
  }

  return {
    keep: (chunk, from, to) => {
      if (isUnusable) return;
      if (row.length + to - from <= rowBytesMax) row.append(chunk.subarray(from, to));
      else {
        isUnusable = true;
        row.clear();
      }
    },
    spoil: () => {
      isUnusable = true;
    },
    end: (isLast) => {
      const text = row.text();
      const wasUnusable = isUnusable;
      row.clear();
      isUnusable = false;
      if (isLast && rows.length === 0 && !wasUnusable && text.trim() === '') return;
      if (rows.length >= rowsMax) throw new UnreadableBody('tooLarge');
      rows.push(wasUnusable ? null : decodeRow(text));
    },
    page: () => ({ rows, weight }),
  };
}

/** Where a byte stands: how deep, and whether in a string. */
interface Place {
  readonly depth: number;
  readonly isInString: boolean;
  readonly isEscaped: boolean;
}

/** Finds the rows of the list among the bytes, and keeps what stands around the list. */
function makeScan(key: string, rows: Rows<unknown>, turn: TurnBudget) {
  const around = makeAround(key);
  let isInList = false;
  let isListSeen = false;

  function closeRow(byte: number): void {
    const isLast = byte !== comma;
    if (isLast && byte !== closeBracket) throw new UnreadableBody('undecodable');
    rows.end(isLast);
    if (!isLast) return;
    isInList = false;
    around.push(byte);
  }

  return {
    /** @returns where it stopped: at the chunk's end, or behind a row when the turn is spent */
    from: (chunk: Uint8Array, start: number): number => {
      for (let at = start; at < chunk.length; ) {
        if (isInList) {
          const end = findRowEnd(chunk, at, around, rows);
          rows.keep(chunk, at, end);
          if (end === chunk.length) return end;
          closeRow(chunk[end] ?? 0);
          at = end + 1;
          if (turn.isSpent()) return at;
        } else {
          isInList = around.readsList(chunk[at] ?? 0);
          isListSeen ||= isInList;
          at += 1;
        }
      }
      return chunk.length;
    },
    isListSeen: () => isListSeen,
    isTooDeep: around.isTooDeep,
    rest: around.text,
  };
}

/** Where the comma or the bracket behind a row stands; the chunk's end, when it is in none. */
function findRowEnd(
  chunk: Uint8Array,
  start: number,
  around: { place: Place },
  rows: Pick<Rows<unknown>, 'spoil'>,
): number {
  // Of this function alone, since it sees every byte.
  let { depth, isInString, isEscaped } = around.place;
  let at = start;
  for (; at < chunk.length; at += 1) {
    const byte = chunk[at];
    if (isInString) {
      if (isEscaped) isEscaped = false;
      else if (byte === backslash) isEscaped = true;
      else if (byte === quote) isInString = false;
    } else if (byte === quote) isInString = true;
    else if (byte === openBrace || byte === openBracket) {
      depth += 1;
      if (depth > listDepth + depthMax) rows.spoil();
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      if (depth < listDepth) break;
    } else if (byte === comma && depth === listDepth) break;
  }
  around.place = { depth, isInString, isEscaped };
  return at;
}

/** What stands around the list. */
function makeAround(key: string) {
  const name = JSON.stringify(key);
  const rest = makeByteCollector();
  let isTooDeep = false;
  /** Where the last string of the body's object begins and ends in `rest`. */
  let lastString = { from: 0, to: 0 };
  const around = {
    /** Behind the byte that was read last. */
    place: { depth: 0, isInString: false, isEscaped: false } as Place,
    /** @returns whether the list begins behind this byte */
    readsList: (byte: number): boolean => {
      if (rest.length >= restBytesMax) throw new UnreadableBody('tooLarge');
      around.place = placeBehind(around.place, byte);
      const { depth, isInString } = around.place;
      if (depth > depthMax) isTooDeep = true;
      if (depth === 1 && byte === quote) {
        lastString = isInString ? { from: rest.length, to: 0 } : { ...lastString, to: rest.length + 1 };
      }
      rest.push(byte);
      if (isInString || depth !== listDepth || byte !== openBracket) return false;
      return rest.text(lastString.from, lastString.to) === name;
    },
    push: (byte: number): void => rest.push(byte),
    isTooDeep: (): boolean => isTooDeep,
    text: (): string => rest.text(),
  };
  return around;
}

function placeBehind({ depth, isInString, isEscaped }: Place, byte: number): Place {
  if (isInString) {
    if (isEscaped) return { depth, isInString, isEscaped: false };
    return { depth, isInString: byte !== quote, isEscaped: byte === backslash };
  }
  if (byte === openBrace || byte === openBracket) return { depth: depth + 1, isInString, isEscaped };
  if (byte === closeBrace || byte === closeBracket) return { depth: depth - 1, isInString, isEscaped };
  return { depth, isInString: byte === quote, isEscaped };
}

// About what the engine takes for a value and its place, beside its characters.
const valueWeight = 32;

/** About how many bytes a value needs in memory. Its depth is bounded. */
function weightOf(value: unknown): number {
  if (typeof value === 'string') return valueWeight + value.length;
  if (typeof value !== 'object' || value === null) return valueWeight;
  let sum = 2 * valueWeight;
  for (const [name, inner] of Object.entries(value)) sum += name.length + weightOf(inner);
  return sum;
}
