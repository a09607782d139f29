import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCodeOf } from '../base/node-errors.ts';
import type { DurationMs, EpochMs } from '../base/time.ts';
import type { FolderAnswer, ReportFolder } from '../orchestrator/ports/report-folder.ts';

/** Keeps reports in a local directory, and creates the directory where it is missing. */
export function makeReportFolder(directory: string): ReportFolder {
  const pathOf = (file: string): string => join(directory, file);
  return {
    place: directory,
    pathOf,
    listMissing: (files, endedAt) =>
      answer(directory, 'read', async () => {
        const dates = await Promise.all(files.map((file) => dateOf(pathOf(file))));
        return files.filter((_file, index) => {
          const date = dates[index];
          return date === undefined || seconds(date) < seconds(endedAt);
        });
      }),
    write: (file, text, endedAt) =>
      answer(directory, 'written', async () => {
        await mkdir(directory, { recursive: true });
        await removeAbandoned(directory, file);
        const temporary = join(directory, `.${file}.${randomUUID()}${temporaryEnd}`);
        try {
          await writeWhole(temporary, text, endedAt);
          await rename(temporary, pathOf(file));
        } catch (error) {
          await rm(temporary, { force: true });
          throw error;
        }
        return null;
      }),
  };
}

const temporaryEnd = '.tmp';

async function writeWhole(path: string, text: string, endedAt: EpochMs): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(text);
    await file.utimes(endedAt / 1_000, endedAt / 1_000);
    // Without this, a power loss could leave an empty file under the final name.
    await file.sync();
  } finally {
    await file.close();
  }
}

// No report takes this long to write. Another daemon may still be writing a younger file.
const abandonedAfterMs: DurationMs = 3_600_000;

/** Removes temporary files of killed processes. */
async function removeAbandoned(directory: string, file: string): Promise<void> {
  const names = await readdir(directory);
  for (const name of names.filter((each) => each.startsWith(`.${file}.`) && each.endsWith(temporaryEnd))) {
    const path = join(directory, name);
    const date = await dateOf(path);
    if (date !== undefined && Date.now() - date > abandonedAfterMs) await rm(path, { force: true });
  }
}

/** @returns undefined when there is no such file */
async function dateOf(path: string): Promise<EpochMs | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Whole seconds, because some file systems have no finer resolution. */
function seconds(at: EpochMs): number {
  return Math.floor(at / 1_000);
}

async function answer<Value>(
  directory: string,
  cannotBe: 'read' | 'written',
  work: () => Promise<Value>,
): Promise<FolderAnswer<Value>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === undefined) throw error;
    return {
      ok: false,
      reason: `the report directory ${directory} cannot be ${cannotBe}: ${describeCode(code)}`,
    };
  }
}

const codeText: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of its path is not a directory',
  EEXIST: 'a part of its path is not a directory',
};

function describeCode(code: string): string {
  return Object.hasOwn(codeText, code) ? `${codeText[code]} (${code})` : code;
}
