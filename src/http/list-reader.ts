import type { TurnBudget } from '../base/turn-budget.ts';
import type { ListPage } from '../contract/operation.ts';
import { type BodyReader, makeByteCollector, UnreadableBody } from './body-reader.ts';
import { depthMax, parseFlatJson, type ReadJson, readJson } from './json-text.ts';

export interface ListReaderParts<Row> {
  /** The member of the body that contains the list. */
  readonly key: string;
  /** null: this row is unusable. */
  readonly decode: (value: unknown) => Row | null;
  readonly turn: TurnBudget;
}

/** The list, or what the body is instead. */
export type ReadList<Row> = { readonly kind: 'list'; readonly page: ListPage<Row> } | ReadJson;

// 1,000 collectors are about 1.5 MB of JSON. 32 MiB fits the largest page of the service (10,000).
const bytesMax = 32 * 1024 * 1024;
const rowsMax = 10_000;

// A collector with texts of the maximum length has about 10 KB.
const rowBytesMax = 64 * 1024;

// The part of the body outside the list. A body without a list, such as a gateway's page, is entirely outside.
const restBytesMax = 1024 * 1024;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** The nesting depth of rows: inside the list, inside the body's object. */
const listDepth = 2;

/**
 * Reads a body such as `{"collectors": [row, row, …]}` row by row, as it arrives. It keeps only what `decode` returns
 * for a row, so neither the text nor the value of the whole body is ever in memory, and a turn of the event loop parses
 * no more than its share. A row is null when it is too large, nested too deep or unknown to `decode`.
 */
export function makeListReader<Row>({ key, decode, turn }: ListReaderParts<Row>): BodyReader<ReadList<Row>> {
  const rows = makeRows(decode);
  const scan = makeScan(key, rows, turn);
  let bytes = 0;

  async function readRest(chunk: Uint8Array, start: number): Promise<void> {
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
      return at < chunk.length ? readRest(chunk, at) : undefined;
    },
    end: () => {
      if (scan.isTooDeep()) return { kind: 'tooDeep' };
      const read = readJson(scan.rest());
      // A truncated list leaves a rest that is not JSON.
      return scan.isListSeen() && read.kind === 'json' ? { kind: 'list', page: rows.page() } : read;
    },
  };
}

/** The rows of a list, decoded one by one. */
interface Rows<Row> {
  keep(chunk: Uint8Array, from: number, to: number): void;
  /** Marks the current row as unusable. */
  spoil(): void;
  /** @param isLast a bracket follows, so there may be no row at all */
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

/** The parser state at a byte. */
interface Place {
  readonly depth: number;
  readonly isInString: boolean;
  readonly isEscaped: boolean;
}

/** Finds the rows of the list, and keeps the text around the list. */
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
    /** @returns where it stopped: at the chunk's end, or after a row when the turn is spent */
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

/** The index of the comma or bracket after a row; the chunk's end when there is none. */
function findRowEnd(
  chunk: Uint8Array,
  start: number,
  around: { place: Place },
  rows: Pick<Rows<unknown>, 'spoil'>,
): number {
  // Local variables, because this loop sees every byte.
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

/** Keeps the text around the list. */
function makeAround(key: string) {
  const name = JSON.stringify(key);
  const rest = makeByteCollector();
  let isTooDeep = false;
  /** Start and end of the last string of the body's object, in `rest`. */
  let lastString = { from: 0, to: 0 };
  const around = {
    /** The state after the last byte. */
    place: { depth: 0, isInString: false, isEscaped: false } as Place,
    /** @returns whether the list begins after this byte */
    readsList: (byte: number): boolean => {
      if (rest.length >= restBytesMax) throw new UnreadableBody('tooLarge');
      around.place = placeAfter(around.place, byte);
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

function placeAfter({ depth, isInString, isEscaped }: Place, byte: number): Place {
  if (isInString) {
    if (isEscaped) return { depth, isInString, isEscaped: false };
    return { depth, isInString: byte !== quote, isEscaped: byte === backslash };
  }
  if (byte === openBrace || byte === openBracket) return { depth: depth + 1, isInString, isEscaped };
  if (byte === closeBrace || byte === closeBracket) return { depth: depth - 1, isInString, isEscaped };
  return { depth, isInString: byte === quote, isEscaped };
}

// Roughly what the engine needs for a value and its slot, without its characters.
const valueWeight = 32;

/** Estimates how many bytes a value needs in memory. Its depth is limited. */
function weightOf(value: unknown): number {
  if (typeof value === 'string') return valueWeight + value.length;
  if (typeof value !== 'object' || value === null) return valueWeight;
  let sum = 2 * valueWeight;
  for (const [name, inner] of Object.entries(value)) sum += name.length + weightOf(inner);
  return sum;
}
