import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { toPrintable } from '../../base/safe-text.ts';
import {
  type BackupHeader,
  type BackupLine,
  type BackupPart,
  backupVersion,
  parseBackupLine,
} from '../../redis/backup/backup-lines.ts';
import { CommandFailure } from '../shell/command.ts';
import { exitCodes } from '../shell/exit-codes.ts';
import { isFileError, writeLinesToFile } from '../shell/write-lines.ts';

// Of the longest, a plan's groups, a hundred thousand collectors that differ in everything make some 10 MB.
const lineCharsMax = 100_000_000;

/** Writes a backup: a header, its parts, and an end by which a file that was cut off or changed is known. */
export async function writeBackupFile(
  path: string,
  header: BackupHeader,
  parts: AsyncIterable<BackupPart>,
): Promise<void> {
  await writeLinesToFile(path, encode(header, parts));
}

/**
 * Reads a backup through to its end.
 * @returns its header @throws CommandFailure when it is none, is not whole, or belongs elsewhere
 */
export async function checkBackupFile(path: string, keyPrefix: string): Promise<BackupHeader> {
  const hash = createHash('sha256');
  let header: BackupHeader | undefined;
  let count = 0;
  let isWhole = false;
  for await (const text of linesOf(path)) {
    const line = parseBackupLine(text);
    if (header === undefined) header = checkHeader(path, keyPrefix, line);
    if (line === undefined || isWhole || (count > 0 && line.kind === 'header')) {
      throw bad(path, `line ${count + 1} is none of a backup: the file was cut off there, or changed`);
    }
    if (line.kind === 'end') {
      isWhole = line.lines === count && line.sha256 === hash.copy().digest('hex');
      if (!isWhole) throw bad(path, 'is not what was written: lines are missing, or were changed');
    }
    hash.update(`${text}\n`);
    count += 1;
  }
  if (header === undefined) throw bad(path, 'is empty');
  if (!isWhole) throw bad(path, `is cut off after line ${count}`);
  return header;
}

/** The parts of a file that was checked. */
export async function* readBackupParts(path: string): AsyncGenerator<BackupPart> {
  for await (const text of linesOf(path)) {
    const line = parseBackupLine(text);
    if (line?.kind === 'part') yield line;
  }
}

async function* encode(header: BackupHeader, parts: AsyncIterable<BackupPart>): AsyncGenerator<string> {
  const hash = createHash('sha256');
  let lines = 0;
  const written = (line: BackupLine): string => {
    const text = JSON.stringify(line);
    hash.update(`${text}\n`);
    lines += 1;
    return text;
  };
  yield written(header);
  for await (const part of parts) yield written(part);
  yield JSON.stringify({ kind: 'end', lines, sha256: hash.digest('hex') } satisfies BackupLine);
}

function checkHeader(path: string, keyPrefix: string, line: BackupLine | undefined): BackupHeader {
  if (line?.kind !== 'header') throw bad(path, 'is no backup of upwave');
  if (line.version !== backupVersion) {
    throw bad(path, `is of version ${line.version}, and this upwave reads version ${backupVersion}`);
  }
  if (line.keyPrefix !== keyPrefix) {
    throw bad(path, `holds keys of ${line.keyPrefix}, and the config's redis.keyPrefix is ${keyPrefix}`);
  }
  return line;
}

/** Split by hand: `node:readline` also ends lines at separators that stand inside of JSON texts. */
async function* linesOf(path: string): AsyncGenerator<string> {
  // Joined once a line is whole: to search what was searched before would make a long line cost its length squared.
  let rest: string[] = [];
  let restLength = 0;
  try {
    for await (const chunk of createReadStream(path, 'utf8')) {
      const [first = '', ...others] = String(chunk).split('\n');
      rest.push(first);
      restLength += first.length;
      if (restLength > lineCharsMax) throw bad(path, 'is no backup of upwave');
      const last = others.pop();
      if (last === undefined) continue;
      yield rest.join('');
      yield* others;
      rest = [last];
      restLength = last.length;
    }
  } catch (error) {
    if (!isFileError(error)) throw error;
    const message = `cannot read ${path}: ${error.code ?? error.message}`;
    throw new CommandFailure(exitCodes.usageOrConfig, message, { cause: error });
  }
  if (restLength > 0) yield rest.join('');
}

function bad(path: string, what: string): CommandFailure {
  return new CommandFailure(exitCodes.usageOrConfig, toPrintable(`${path} ${what}`));
}
