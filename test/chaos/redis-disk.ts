import { execFile } from 'node:child_process';
import { cp, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findOnPath } from '../../src/redis/embedded/start-embedded-redis.ts';
import type { RedisProcess } from '../support/redis/redis-process.ts';

/** Of util-linux: changes the limits of a running process. Undefined where there is none. */
export const prlimitCommand = await findOnPath('prlimit');

const run = promisify(execFile);

/**
 * Lets the append-only file of a Redis grow by so many bytes, and no more: like a disk that is full then, for a process
 * that nobody has to be root for. Holds until the process ends or is told otherwise. Needs `prlimitCommand`.
 */
export async function leaveRoom(redis: RedisProcess, bytes: number | 'unlimited'): Promise<void> {
  const limit = bytes === 'unlimited' ? bytes : String((await largestFile(redis.folder)) + bytes);
  await run(prlimitCommand ?? '', ['--pid', String(redis.pid()), `--fsize=${limit}:`]);
}

/** Puts what is on the disk of a Redis now aside, also while it runs. */
export async function keepAside({ folder }: RedisProcess): Promise<void> {
  await cp(join(folder, 'data'), join(folder, 'aside'), { recursive: true });
}

/** Between a kill and a start: its disk is as it was when it was put aside, and all that was written since is lost. */
export async function goBack({ folder }: RedisProcess): Promise<void> {
  await rm(join(folder, 'data'), { recursive: true });
  await rename(join(folder, 'aside'), join(folder, 'data'));
}

async function largestFile(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async (file) => (await stat(join(file.parentPath, file.name))).size),
  );
  return Math.max(0, ...sizes);
}
