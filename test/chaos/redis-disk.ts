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
 * Limits the growth of the append-only file of a Redis to this many bytes, like a disk that becomes full. Needs no root
 * rights. The limit holds until the process ends or another limit is set. Needs `prlimitCommand`.
 */
export async function leaveRoom(redis: RedisProcess, bytes: number | 'unlimited'): Promise<void> {
  const limit = bytes === 'unlimited' ? bytes : String((await largestFile(redis.folder)) + bytes);
  await run(prlimitCommand ?? '', ['--pid', String(redis.pid()), `--fsize=${limit}:`]);
}

/** Copies the present disk content of a Redis, also while it runs. */
export async function keepAside({ folder }: RedisProcess): Promise<void> {
  await cp(join(folder, 'data'), join(folder, 'aside'), { recursive: true });
}

/** Restores the copy between a kill and a start. All later writes are lost. */
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
