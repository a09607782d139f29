import { makeByteCollector } from './byte-collector.ts';

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
