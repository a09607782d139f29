/** An answer as it stood on the wire. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
}

const statusLine = /^HTTP\/1\.1 (\d{3}) [\x20-\x7e]*$/;
const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([\t\x20-\x7e\x80-\xff]*)$/;
const noBody = new Set([204, 304]);

/**
 * Reads the answers of one connection as they arrive.
 * @throws when what arrives is no well-formed HTTP/1.1
 */
export class AnswerParser {
  readonly answers: WireAnswer[] = [];
  readonly #hasHead: (index: number) => boolean;
  #pending = Buffer.alloc(0);

  /** @param isHead whether the request with this index was a HEAD: its answer has no body */
  constructor(isHead: (index: number) => boolean) {
    this.#hasHead = isHead;
  }

  get isAtBoundary(): boolean {
    return this.#pending.length === 0;
  }

  feed(chunk: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      // 1xx only announce the answer.
      if (next.status >= 200) this.answers.push(next);
    }
  }

  #take(): WireAnswer | undefined {
    const headEnd = this.#pending.indexOf('\r\n\r\n');
    if (headEnd < 0) return undefined;
    const [first = '', ...lines] = this.#pending.subarray(0, headEnd).toString('latin1').split('\r\n');
    const status = Number(statusLine.exec(first)?.[1] ?? fail(`status line ${JSON.stringify(first)}`));
    const headers = new Map(lines.map(parseHeader));
    const bodyAt = headEnd + 4;
    const isBodyless = status < 200 || noBody.has(status) || this.#hasHead(this.answers.length);
    const body = isBodyless ? { text: '', end: bodyAt } : this.#takeBody(bodyAt, headers);
    if (body === undefined) return undefined;
    this.#pending = this.#pending.subarray(body.end);
    return { status, headers, text: body.text };
  }

  #takeBody(at: number, headers: ReadonlyMap<string, string>) {
    const length = headers.get('content-length');
    if (headers.get('transfer-encoding') === 'chunked') {
      if (length !== undefined) fail('both a length and chunks');
      return this.#takeChunks(at);
    }
    if (length === undefined || !/^\d+$/.test(length)) {
      // Without a length the body goes on until the end of the connection; only an empty one is told apart.
      if (headers.get('connection') === 'close') return { text: '', end: at };
      return fail(`content-length ${length}`);
    }
    const end = at + Number(length);
    return end > this.#pending.length
      ? undefined
      : { text: this.#pending.subarray(at, end).toString('utf8'), end };
  }

  #takeChunks(from: number) {
    const parts: Buffer[] = [];
    let at = from;
    for (;;) {
      const lineEnd = this.#pending.indexOf('\r\n', at);
      if (lineEnd < 0) return undefined;
      const line = this.#pending.subarray(at, lineEnd).toString('latin1');
      if (!/^[0-9a-f]+$/i.test(line)) return fail(`chunk size ${JSON.stringify(line)}`);
      const size = Number.parseInt(line, 16);
      const end = lineEnd + 2 + size + 2;
      if (end > this.#pending.length) return undefined;
      if (size === 0) return { text: Buffer.concat(parts).toString('utf8'), end };
      parts.push(this.#pending.subarray(lineEnd + 2, end - 2));
      at = end;
    }
  }
}

function parseHeader(line: string): readonly [string, string] {
  const [, name, value] = headerLine.exec(line) ?? [];
  if (name === undefined || value === undefined) return fail(`header ${JSON.stringify(line)}`);
  return [name.toLowerCase(), value];
}

function fail(what: string): never {
  throw new Error(`the answer is no well-formed HTTP: ${what}`);
}
