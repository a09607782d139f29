import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { errorCodeOf } from '../../base/node-errors.ts';

/**
 * Reads a whole text file, pipes included, up to a bound.
 * @returns the text without a byte order mark, or the reason why it cannot be read
 */
export function readTextFile(path: string, maxBytes: number): string | { readonly problem: string } {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    return { problem: openSentence(error) };
  }
  try {
    if (fstatSync(descriptor).isDirectory()) return { problem: 'this is a directory; name a file in it' };
    const bytes = readUpTo(descriptor, maxBytes + 1);
    if (bytes.length > maxBytes)
      return { problem: `the file is larger than ${maxBytes} bytes, the most that is read` };
    return decodeUtf8(bytes);
  } catch (error) {
    return { problem: `the file cannot be read (${reasonOf(error)})` };
  } finally {
    closeSync(descriptor);
  }
}

function readUpTo(descriptor: number, maxBytes: number): Buffer {
  const buffer = Buffer.alloc(maxBytes);
  let length = 0;
  // The loop ends: each read fills at least one byte of a bounded buffer.
  while (length < maxBytes) {
    const readCount = readSync(descriptor, buffer, length, maxBytes - length, null);
    if (readCount === 0) break;
    length += readCount;
  }
  return buffer.subarray(0, length);
}

function decodeUtf8(bytes: Buffer): string | { readonly problem: string } {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { problem: 'the file is not UTF-8 text; save it as UTF-8' };
  }
}

function openSentence(error: unknown): string {
  switch (errorCodeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'there is no such file';
    case 'EACCES':
    case 'EPERM':
      return 'the file may not be read; check its owner and mode';
    case 'ERR_INVALID_ARG_VALUE':
      return 'this is not a usable file name';
    default:
      return `the file can't be opened (${reasonOf(error)})`;
  }
}

function reasonOf(error: unknown): string {
  return errorCodeOf(error) ?? String(error);
}
