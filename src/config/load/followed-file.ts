import { statSync } from 'node:fs';
import { hashHex } from '../../base/hash.ts';
import { unlessRefused } from '../../base/node-errors.ts';
import { readTextFile } from '../source/text-file.ts';
import { fileBytesMax } from '../source/yaml-source.ts';

/** Detects whether a file's content has changed since it was last read. Its date does not count. */
export function followFile(path: string) {
  let read = contentOf(path);
  return {
    /** Must be called right before the file is read, so that a change in between counts as unread. */
    noteReading: (): void => {
      read = contentOf(path);
    },
    isUnread: (): boolean => contentOf(path) !== read,
  };
}

/** A hash of the content, or why there is none: a deleted file counts as changed. */
function contentOf(path: string): string {
  if (!isRegularFile(path)) return 'no regular file';
  const text = readTextFile(path, fileBytesMax);
  return typeof text === 'string' ? hashHex(text, 16) : text.problem;
}

/** False for a pipe: it can be read only once, which the config itself needs. */
function isRegularFile(path: string): boolean {
  return unlessRefused(() => statSync(path).isFile()) ?? false;
}
