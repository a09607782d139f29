// The largest page of the service (field-facts.md, The wire).
const rowsMax = 10_000;

// Besides the list itself, a body has a few others at most.
const listsMax = 100;

// A collector with texts of the maximum length has about 10 KB, and six times that where each character is escaped.
const rowBytesMax = 128 * 1024;

// What is around the rows, such as a link to the next page.
const frameBytesMax = 64 * 1024;

// The lists of a body are arrays in an object.
const listDepth = 2;

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Where a list is in the body: behind its opening bracket; and where each row ends, the last one at the closing bracket. */
interface ListPlace {
  readonly from: number;
  readonly ends: number[];
}

export interface RowPlace {
  readonly from: number;
  readonly to: number;
}

/**
 * Finds the rows of a list's JSON while its bytes arrive, so that each row can be parsed for itself. JSON.parse takes up to
 * a hundred bytes of memory for one of text, and seconds for half a million names. UTF-8 has no byte of these characters
 * inside another one.
 */
export class ListScan {
  readonly #lists: ListPlace[] = [];
  #at = 0;
  #depth = 0;
  #rows = 0;
  #excess: string | undefined;
  #isInList = false;
  #isInString = false;
  #isEscaped = false;

  /** Reads the next bytes. @returns what the list has too much of; undefined: nothing so far */
  push(bytes: Uint8Array): string | undefined {
    // In locals, which a loop over millions of bytes reads faster.
    let [depth, isInString, isEscaped] = [this.#depth, this.#isInString, this.#isEscaped];
    for (let index = 0; index < bytes.length && this.#excess === undefined; index += 1) {
      const byte = bytes[index];
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (byte === backslash) isEscaped = true;
        else if (byte === quote) isInString = false;
      } else if (byte === quote) isInString = true;
      else if (byte === comma) {
        if (depth === listDepth) this.#endRow(index);
      } else if (byte === openBracket || byte === openBrace) {
        depth += 1;
        if (depth === listDepth && byte === openBracket) this.#beginList(index);
      } else if (byte === closeBracket || byte === closeBrace) {
        if (depth === listDepth && byte === closeBracket) this.#endRow(index);
        if (depth === listDepth) this.#isInList = false;
        depth -= 1;
      }
    }
    [this.#depth, this.#isInString, this.#isEscaped] = [depth, isInString, isEscaped];
    this.#at += bytes.length;
    return this.#excess;
  }

  /**
   * @param body all bytes that were read
   * @returns the body's text with the number of each list in place of its rows; undefined when it is too large
   */
  frame(body: Buffer): string | undefined {
    let frame = '';
    let from = 0;
    for (const [number, list] of this.#lists.entries()) {
      frame += `${body.toString('utf8', from, list.from)}${number}`;
      from = list.ends.at(-1) ?? body.length;
      if (frame.length > frameBytesMax) return undefined;
    }
    return body.length - from > frameBytesMax ? undefined : frame + body.toString('utf8', from);
  }

  /** The places of a list's rows. @param number as the frame has it */
  rows(body: Buffer, number: number): readonly RowPlace[] {
    const { from: first = 0, ends = [] } = this.#lists[number] ?? {};
    let from = first;
    const rows = ends.map((to) => {
      const row = { from, to };
      from = to + 1;
      return row;
    });
    const [only] = rows;
    const isEmpty = rows.length === 1 && only !== undefined && textOfRow(body, only)?.trim() === '';
    return isEmpty ? [] : rows;
  }

  #beginList(index: number): void {
    this.#lists.push({ from: this.#at + index + 1, ends: [] });
    this.#isInList = true;
    if (this.#lists.length > listsMax) this.#excess = `more than ${listsMax} lists`;
  }

  #endRow(index: number): void {
    if (!this.#isInList) return;
    this.#lists.at(-1)?.ends.push(this.#at + index);
    this.#rows += 1;
    if (this.#rows > rowsMax) this.#excess = `more than ${rowsMax} rows`;
  }
}

/** @returns undefined for a row that is too large to be parsed */
export function textOfRow(body: Buffer, { from, to }: RowPlace): string | undefined {
  return to - from > rowBytesMax ? undefined : body.toString('utf8', from, to);
}
