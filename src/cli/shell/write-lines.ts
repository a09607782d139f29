import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type CommandFailure, UsageFailure } from './command.ts';

/** Texts of a line each, without its end. */
export type Lines = Iterable<string> | AsyncIterable<string>;

/**
 * Writes a file that has its name only when it is whole, and that nobody else may read.
 * @throws CommandFailure when it can't be written
 */
export async function writeLinesToFile(path: string, lines: Lines): Promise<void> {
  try {
    if (await isDevice(path)) return await pipeline(Readable.from(withEnds(lines)), createWriteStream(path));
    // A new file under a name that nobody foresees: one that is there, or a link, has somebody else's mode and place.
    const unfinished = `${path}.${randomBytes(8).toString('hex')}.part`;
    const file = await open(unfinished, 'wx', 0o600);
    try {
      // Flushed before it gets its name: a name must not survive a power cut that its content does not.
      await pipeline(Readable.from(withEnds(lines)), file.createWriteStream({ flush: true }));
      await rename(unfinished, path);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
  } catch (error) {
    throw fileFailure(error, (why) => `cannot write ${path}: ${why}`);
  }
}

/** A device or a pipe is written to: a file in its place would take it from everybody, `/dev/null` first of all. */
async function isDevice(path: string): Promise<boolean> {
  const there = await stat(path).catch(() => undefined);
  return there !== undefined && !there.isFile() && !there.isDirectory();
}

/** Writes to where results go; whoever reads may stop in the middle. */
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
