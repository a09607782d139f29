import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exchangeLine } from '../../../src/redis/embedded/inline-commands.ts';
import { findOnPath } from '../../../src/redis/embedded/start-embedded-redis.ts';
import { findFreePort } from '../network/free-port.ts';
import { until } from '../until.ts';

/** Undefined where there is none. Tests that need it are skipped then. */
export const redisServerCommand = await findOnPath('redis-server');

/** A `redis-server` that a test may kill; its folder stays until `close`. */
export type RedisProcess = Awaited<ReturnType<typeof makeRedisProcess>>;

export interface RedisProcessInput {
  /** More arguments, after those of a server that loses nothing. */
  readonly args?: readonly string[];
  /** Started as a sentinel, with this configuration. */
  readonly sentinel?: string;
}

/** Of a server that loses nothing: it writes its append-only file with every command. */
export const losslessArgs = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];

// A file at its limit answers a write with an error then, as a full disk does, instead of ending the process.
const shellText = 'trap "" XFSZ; exec "$@"';

/** A Redis that writes its append-only file with every command. It is not started yet. */
export async function makeRedisProcess(input: RedisProcessInput = {}) {
  const port = await findFreePort();
  const folder = await mkdtemp(join(tmpdir(), 'upwave-chaos-redis-'));
  const args = await argumentsFor(input, { port, folder });
  let child: ChildProcess | undefined;

  /** Sends one inline command, with a bound for what hangs. @returns the first line of the answer */
  const ask = (command: string) => exchangeLine(port, command, 30_000);
  /** False also after it ended by itself. */
  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null;
  /** Kills the process with SIGKILL. */
  const kill = async () => {
    if (child === undefined || !isRunning()) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return {
    /** Its data is in `data` below this folder, which goes as a whole. */
    folder,
    port,
    pid: () => child?.pid,
    url: `redis://127.0.0.1:${port}`,
    isRunning,
    ask,
    kill,
    /** Starts it, again after a kill; it answers when this returns. */
    start: async () => {
      child = spawn('/bin/sh', ['-c', shellText, 'redis', redisServerCommand ?? '', ...args], {
        stdio: 'ignore',
      });
      await until('Redis to answer', async () => {
        // Where another server has the port, that one would answer.
        if (!isRunning()) throw new Error(`the Redis of port ${port} ended at its start`);
        return (await ask('PING')) === '+PONG';
      });
    },
    close: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function argumentsFor(
  { args = [], sentinel }: RedisProcessInput,
  { port, folder }: { readonly port: number; readonly folder: string },
): Promise<readonly string[]> {
  const dataDir = join(folder, 'data');
  await mkdir(dataDir);
  const shared = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dataDir];
  if (sentinel !== undefined) {
    const file = join(folder, 'sentinel.conf');
    await writeFile(file, sentinel);
    return [file, '--sentinel', ...shared];
  }
  return [...shared, ...losslessArgs, '--maxmemory-policy', 'noeviction', ...args];
}
