/** Bytes that grow. One block: a body that comes a byte at a time costs no object for each. */
export interface ByteCollector {
  readonly length: number;
  append(bytes: Uint8Array): void;
  push(byte: number): void;
  /** As UTF-8. */
  text(from?: number, to?: number): string;
  clear(): void;
}

const firstBytes = 256;

export function makeByteCollector(): ByteCollector {
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
    append: (bytes) => {
      makeRoom(bytes.length);
      block.set(bytes, length);
      length += bytes.length;
    },
    push: (byte) => {
      makeRoom(1);
      block[length] = byte;
      length += 1;
    },
    text: (from = 0, to = length) => block.toString('utf8', from, to),
    clear: () => {
      length = 0;
    },
  };
}
