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
  const name = JSON.stringify(key);
  const rows: (Row | null)[] = [];
  const rest = makeByteCollector();
  const row = makeByteCollector();
  let weight = 0;
  let bytes = 0;
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let isInList = false;
  let isListSeen = false;
  let isTooDeep = false;
  let isRowUnusable = false;
  /** Where the last string of the body's object begins and ends in `rest`. */
  let lastString = { from: 0, to: 0 };

  function endRow(isLast: boolean): void {
    const text = row.text();
    const isUnusable = isRowUnusable;
    row.clear();
    isRowUnusable = false;
    if (isLast && rows.length === 0 && !isUnusable && text.trim() === '') return;
    if (rows.length >= rowsMax) throw new UnreadableBody('tooLarge');
    if (isUnusable) {
      rows.push(null);
      return;
    }
    const read = parseFlatJson(text);
    if (read.kind !== 'json') throw new UnreadableBody('undecodable');
    const decoded = decode(read.value);
    const rowWeight = weightOf(decoded);
    const isFit = rowWeight <= rowBytesMax;
    weight += isFit ? rowWeight : 0;
    rows.push(isFit ? decoded : null);
  }

  function keep(chunk: Uint8Array, from: number, to: number): void {
    if (isRowUnusable) return;
    if (row.length + to - from <= rowBytesMax) row.append(chunk.subarray(from, to));
    else {
      isRowUnusable = true;
      row.clear();
    }
  }

  /** @returns where it stopped: at the chunk's end, or behind a row when the turn is spent */
  function scan(chunk: Uint8Array, start: number): number {
    for (let at = start; at < chunk.length; ) {
      if (isInList) {
        const end = findRowEnd(chunk, at);
        keep(chunk, at, end);
        if (end === chunk.length) return end;
        closeRow(chunk[end] ?? 0);
        at = end + 1;
        if (turn.isSpent()) return at;
      } else {
        keepRest(chunk[at] ?? 0);
        at += 1;
      }
    }
    return chunk.length;
  }

  /** Where the comma or the bracket behind a row stands; the chunk's end, when it is in none. */
  function findRowEnd(chunk: Uint8Array, start: number): number {
    // Of this function alone, since it sees every byte.
    let [level, inString, escaped] = [depth, isInString, isEscaped];
    let at = start;
    for (; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === backslash) escaped = true;
        else if (byte === quote) inString = false;
      } else if (byte === quote) inString = true;
      else if (byte === openBrace || byte === openBracket) {
        level += 1;
        if (level > listDepth + depthMax) isRowUnusable = true;
      } else if (byte === closeBrace || byte === closeBracket) {
        level -= 1;
        if (level < listDepth) break;
      } else if (byte === comma && level === listDepth) break;
    }
    [depth, isInString, isEscaped] = [level, inString, escaped];
    return at;
  }

  function closeRow(byte: number): void {
    const isLast = byte !== comma;
    if (isLast && byte !== closeBracket) throw new UnreadableBody('undecodable');
    endRow(isLast);
    if (!isLast) return;
    isInList = false;
    rest.push(byte);
  }

  /** Finds the list in what stands around it. */
  function keepRest(byte: number): void {
    if (rest.length >= restBytesMax) throw new UnreadableBody('tooLarge');
    if (isInString) {
      if (isEscaped) isEscaped = false;
      else if (byte === backslash) isEscaped = true;
      else if (byte === quote) isInString = false;
    } else if (byte === quote) isInString = true;
    else if (byte === openBrace || byte === openBracket) depth += 1;
    else if (byte === closeBrace || byte === closeBracket) depth -= 1;
    if (depth > depthMax) isTooDeep = true;
    if (depth === 1 && byte === quote) {
      lastString = isInString ? { from: rest.length, to: 0 } : { ...lastString, to: rest.length + 1 };
    }
    rest.push(byte);
    if (isInString || depth !== listDepth || byte !== openBracket) return;
    if (rest.text(lastString.from, lastString.to) !== name) return;
    isInList = true;
    isListSeen = true;
  }

  async function goOn(chunk: Uint8Array, start: number): Promise<void> {
    let at = start;
    while (at < chunk.length) {
      await turn.next();
      if (!turn.isSpent()) at = scan(chunk, at);
    }
  }

  return {
    push: (chunk) => {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new UnreadableBody('tooLarge');
      const at = turn.isSpent() ? 0 : scan(chunk, 0);
      return at < chunk.length ? goOn(chunk, at) : undefined;
    },
    end: () => {
      if (isTooDeep) return { kind: 'tooDeep' };
      const read = readJson(rest.text());
      // A list that was cut off leaves a rest that is no JSON.
      return isListSeen && read.kind === 'json' ? { kind: 'list', page: { rows, weight } } : read;
    },
  };
}

// About what the engine takes for a value and its place, beside its characters.
const valueWeight = 32;

/** About how many bytes a value takes in memory. Its depth is bounded. */
function weightOf(value: unknown): number {
  if (typeof value === 'string') return valueWeight + value.length;
  if (typeof value !== 'object' || value === null) return valueWeight;
  let sum = 2 * valueWeight;
  for (const [name, inner] of Object.entries(value)) sum += name.length + weightOf(inner);
  return sum;
}
