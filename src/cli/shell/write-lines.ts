import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { toPrintable } from '../../base/safe-text.ts';
import { type CommandFailure, UsageFailure } from './command.ts';

/** The lines, without line ends. */
export type Lines = Iterable<string> | AsyncIterable<string>;

/**
 * Writes a file. It gets its name only when it is complete.
 * Its path is named on stderr, where it is no device.
 * @param reader `owner`: nobody else may read it; `all`: whoever the umask allows, as with a redirected output
 * @throws CommandFailure when the file cannot be written
 */
export async function writeLinesToFile(
  path: string,
  lines: Lines,
  { reader, err }: { readonly reader: 'owner' | 'all'; readonly err: NodeJS.WritableStream },
): Promise<void> {
  try {
    if (await isDevice(path)) return await pipeline(Readable.from(withEnds(lines)), createWriteStream(path));
    // The temporary name is random: an existing file or link would have the mode and target of somebody else.
    const unfinished = `${path}.${randomBytes(8).toString('hex')}.part`;
    const file = await open(unfinished, 'wx', reader === 'owner' ? 0o600 : 0o666);
    try {
      // Flushed before the rename: after a power cut, the name must not exist without its content.
      await pipeline(Readable.from(withEnds(lines)), file.createWriteStream({ flush: true }));
      await rename(unfinished, path);
      err.write(`written: ${toPrintable(path)}\n`);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
  } catch (error) {
    throw fileFailure(error, (why) => `cannot write ${path}: ${why}`);
  }
}

/** A device or a pipe is written to directly. A rename would replace it, even `/dev/null`, for everybody. */
async function isDevice(path: string): Promise<boolean> {
  const there = await stat(path).catch(() => undefined);
  return there !== undefined && !there.isFile() && !there.isDirectory();
}

/** Writes lines to stdout. The reader may stop in the middle. */
export async function writeLines(stream: NodeJS.WritableStream, lines: Lines): Promise<void> {
  try {
    await pipeline(Readable.from(withEnds(lines)), stream, { end: false });
  } catch (error) {
    if (!isFileError(error) || error.code !== 'EPIPE') throw error;
  }
}

/** An error of the file system as what the command fails with. @throws any other error as it is */
export function fileFailure(error: unknown, words: (why: string) => string): CommandFailure {
  if (!isFileError(error)) throw error;
  return new UsageFailure(words(error.code ?? error.message), { cause: error });
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

async function* withEnds(lines: Lines): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}
