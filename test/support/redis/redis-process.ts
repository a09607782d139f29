import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { exchangeLine } from '../../../src/redis/embedded/inline-commands.ts';
import { findOnPath } from '../../../src/redis/embedded/start-embedded-redis.ts';
import { findFreePort } from '../network/free-port.ts';
import { until } from '../until.ts';

/** Undefined where there is none; whoever needs one is skipped then. */
export const redisServerCommand = await findOnPath('redis-server');

/** Of util-linux: changes the limits of a running process. Undefined where there is none. */
export const prlimitCommand = await findOnPath('prlimit');

const run = promisify(execFile);

/** A `redis-server` that a test may kill; its folder stays until `close`. */
export interface RedisProcess {
  readonly port: number;
  readonly url: string;
  /** Starts it, again after a kill; it answers when this returns. */
  start(): Promise<void>;
  /** Like a power cut of the process. */
  kill(): Promise<void>;
  /** False also after it ended by itself. */
  isRunning(): boolean;
  /** Sends one inline command. @returns the first line of the answer */
  ask(command: string): Promise<string | undefined>;
  /**
   * Lets its append-only file grow by so many bytes, and no more: like a disk that is full then, for a process that
   * nobody has to be root for. Holds until the process ends or is told otherwise. Needs `prlimitCommand`.
   */
  leaveRoom(bytes: number | 'unlimited'): Promise<void>;
  /** Puts what is on its disk now aside, also while it runs. */
  keepAside(): Promise<void>;
  /** Between a kill and a start: its disk is as it was when it was put aside, and all that was written since is lost. */
  goBack(): Promise<void>;
  close(): Promise<void>;
}

export interface RedisProcessInput {
  /** More arguments, after those of a server that loses nothing. */
  readonly args?: readonly string[];
  /** Started as a sentinel, with this configuration. */
  readonly sentinel?: string;
}

// A file at its limit answers a write with an error then, as a full disk does, instead of ending the process.
const shellText = 'trap "" XFSZ; exec "$@"';

/** A Redis that writes its append-only file with every command. It is not started yet. */
export async function makeRedisProcess(input: RedisProcessInput = {}): Promise<RedisProcess> {
  const port = await findFreePort();
  const folder = await mkdtemp(join(tmpdir(), 'upwave-chaos-redis-'));
  const args = await argumentsFor(input, { port, folder });
  const aside = `${folder}-aside`;
  let child: ChildProcess | undefined;

  // A bound for what hangs: one that is not there says so at once.
  const ask = (command: string) => exchangeLine(port, command, 30_000);
  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null;
  const kill = async () => {
    if (child === undefined || !isRunning()) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    isRunning,
    ask,
    kill,
    leaveRoom: async (bytes) => {
      const limit = bytes === 'unlimited' ? bytes : String((await largestFile(folder)) + bytes);
      await run(prlimitCommand ?? '', ['--pid', String(child?.pid), `--fsize=${limit}:`]);
    },
    keepAside: async () => {
      await rm(aside, { recursive: true, force: true });
      await cp(folder, aside, { recursive: true });
    },
    goBack: async () => {
      await rm(folder, { recursive: true });
      await rename(aside, folder);
    },
    start: async () => {
      child = spawn('/bin/sh', ['-c', shellText, 'redis', redisServerCommand ?? '', ...args], {
        stdio: 'ignore',
      });
      await until('Redis to answer', async () => (await ask('PING')) === '+PONG');
    },
    close: async () => {
      await kill();
      for (const path of [folder, aside]) await rm(path, { recursive: true, force: true });
    },
  };
}

async function argumentsFor(
  { args = [], sentinel }: RedisProcessInput,
  { port, folder }: { readonly port: number; readonly folder: string },
): Promise<readonly string[]> {
  const shared = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
  if (sentinel !== undefined) {
    const file = join(folder, 'sentinel.conf');
    await writeFile(file, sentinel);
    return [file, '--sentinel', ...shared];
  }
  const lossless = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
  return [...shared, ...lossless, '--maxmemory-policy', 'noeviction', ...args];
}

async function largestFile(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async (file) => (await stat(join(file.parentPath, file.name))).size),
  );
  return Math.max(0, ...sizes);
}
