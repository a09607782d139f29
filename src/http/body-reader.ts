/** Reads the body of one answer as it comes. */
export interface BodyReader<Body> {
  /**
   * Takes the next piece. A promise: no further piece until it has resolved.
   * @throws UnreadableBody
   */
  push(chunk: Uint8Array): Promise<void> | undefined;
  /** What the whole is. @throws UnreadableBody */
  end(): Body;
}

/** What a body turned out to be before its end. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody';
  readonly kind: 'tooLarge' | 'undecodable';

  constructor(kind: UnreadableBody['kind']) {
    super(kind);
    this.kind = kind;
  }
}

/** The whole body as text. */
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

/** Bytes that grow. One block: a body that comes a byte at a time costs no object for each. */
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
    /** As UTF-8. */
    text: (from = 0, to = length): string => block.toString('utf8', from, to),
    clear: (): void => {
      length = 0;
    },
  };
}
