/** Reads the body of one response, chunk by chunk. */
export interface BodyReader<Body> {
  /** Takes the next chunk. While a returned promise is pending, push no further chunk. @throws UnreadableBody */
  push(chunk: Uint8Array): Promise<void> | undefined;
  /** The whole body, decoded. @throws UnreadableBody */
  end(): Body;
}

/** Thrown when a body cannot be read to its end. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody';
  readonly kind: 'tooLarge' | 'undecodable';

  constructor(kind: UnreadableBody['kind']) {
    super(kind);
    this.kind = kind;
  }
}

/** Reads the whole body as text. */
export function makeTextReader(bytesMax: number): BodyReader<string> {
  const bytes = makeByteCollector();
  return {
    push: (chunk) => {
      if (bytes.length + chunk.length > bytesMax) throw new UnreadableBody('tooLarge');
      bytes.append(chunk);
      return undefined;
    },
    end: () => bytes.text(),
  };
}

const firstBytes = 256;

/** A growing buffer. It is one block, so that a body which arrives byte by byte costs no object for each byte. */
export function makeByteCollector() {
  let block = Buffer.allocUnsafe(firstBytes);
  let length = 0;
  const makeRoom = (more: number): void => {
    if (length + more <= block.length) return;
    const larger = Buffer.allocUnsafe(Math.max(block.length * 2, length + more));
    block.copy(larger, 0, 0, length);
    block = larger;
  };
  return {
    get length() {
      return length;
    },
    append: (bytes: Uint8Array): void => {
      makeRoom(bytes.length);
      block.set(bytes, length);
      length += bytes.length;
    },
    push: (byte: number): void => {
      makeRoom(1);
      block[length] = byte;
      length += 1;
    },
    /** Decodes UTF-8. */
    text: (from = 0, to = length): string => block.toString('utf8', from, to),
    clear: (): void => {
      length = 0;
    },
  };
}
