import { statSync } from 'node:fs';
import { hashHex } from '../../base/hash.ts';
import { unlessRefused } from '../../base/node-errors.ts';
import { readTextFile } from '../source/text-file.ts';
import { fileBytesMax } from '../source/yaml-source.ts';

/**
 * Knows whether a file has other content than when it was last read. Its content counts, not its date: a copy of the same
 * text is no change.
 */
export function followFile(path: string) {
  let read = contentOf(path);
  return {
    /** Call it right before the file is read: a change in between then counts as unread. */
    noteReading: (): void => {
      read = contentOf(path);
    },
    isUnread: (): boolean => contentOf(path) !== read,
  };
}

/** A hash of the content, or why there is none: a file that is gone also differs from the one that was read. */
function contentOf(path: string): string {
  if (!isRegularFile(path)) return 'no regular file';
  const text = readTextFile(path, fileBytesMax);
  return typeof text === 'string' ? hashHex(text, 16) : text.problem;
}

/** A pipe can be read once, and that is for the config. */
function isRegularFile(path: string): boolean {
  return unlessRefused(() => statSync(path).isFile()) ?? false;
}
