import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { exchangeLine } from './inline-commands.ts';
import { childEnvironment, endOf, isRunning, type ServerProcess, startWithinMs } from './server-process.ts';

// With an append-only file that is synced on every change, little remains to write.
const stopWithinMs = 5_000;

const checkEveryMs = 20;

/**
 * The shell becomes `$1`, which reads its configuration from pipe 3, so that the password is in no process list and no file
 * (P12). In the background `cat` waits on pipe 4, which closes when this process ends for any reason. Then the server is
 * stopped.
 */
const shellText = '(cat <&4 >/dev/null; kill "$$") 3<&- & exec "$1" - <&3';

interface ServerOptions {
  readonly port: number;
  readonly password: string;
  readonly dataDir: string | null;
}

/** Starts `redis-server` or `valkey-server`. @throws when it does not answer */
export async function startNativeServer(command: string, options: ServerOptions): Promise<ServerProcess> {
  const { port, password } = options;
  const child = spawn('/bin/sh', ['-c', shellText, 'upwave-redis', command], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    // Its own process group, so that Ctrl-C does not stop it: the daemon still needs it while it stops.
    detached: true,
    env: childEnvironment(),
  });
  const lines = keepLastLines(child);
  const exited = endOf(child);
  const lifeline = child.stdio[4] as Writable;
  // The reader may have ended first, which is no error.
  for (const pipe of [child.stdio[3] as Writable, lifeline]) pipe.on('error', () => undefined);
  void exited.then(() => lifeline.destroy());
  (child.stdio[3] as Writable).end(configText(options));
  try {
    await answers({ port, password, exited });
  } catch (error) {
    await stop(child, exited);
    throw new Error(`${command} did not start: ${lines().replaceAll(password, '***') || String(error)}`);
  }
  child.unref();
  for (const pipe of child.stdio) if (pipe instanceof Socket) pipe.unref();
  return { port, exited, stop: () => stop(child, exited) };
}

function configText({ port, password, dataDir }: ServerOptions): string {
  const persistence =
    dataDir === null ? ['appendonly no'] : ['appendonly yes', 'appendfsync always', `dir ${quote(dataDir)}`];
  return [
    `port ${port}`,
    'bind 127.0.0.1',
    'protected-mode yes',
    `requirepass ${password}`,
    'maxmemory-policy noeviction',
    'save ""',
    'daemonize no',
    'logfile ""',
    'loglevel warning',
    ...persistence,
    '',
  ].join('\n');
}

function quote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** Waits until this server answers: no other knows the password. @throws when it ended, or took too long */
async function answers(server: {
  readonly port: number;
  readonly password: string;
  readonly exited: Promise<void>;
}): Promise<void> {
  let ended = false;
  void server.exited.then(() => {
    ended = true;
  });
  for (let waitedMs = 0; waitedMs < startWithinMs; waitedMs += checkEveryMs) {
    if (ended) throw new Error('it ended immediately');
    const line = await exchangeLine(server.port, `AUTH ${server.password}`, 1_000);
    // It may still be loading its file. The connections handle LOADING.
    if (line === '+OK') return;
    await wait(checkEveryMs);
  }
  throw new Error(`it did not answer within ${startWithinMs} ms`);
}

function keepLastLines(child: ChildProcess): () => string {
  let text = '';
  const keep = (bytes: Buffer) => {
    text = (text + bytes.toString()).slice(-2_000);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  return () => text.trim().split('\n').slice(-5).join(' | ');
}

async function stop(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (!isRunning(child)) return;
  child.ref();
  child.kill('SIGTERM');
  const late = new AbortController();
  const kill = wait(stopWithinMs, undefined, { signal: late.signal }).then(
    () => child.kill('SIGKILL'),
    () => undefined,
  );
  await exited;
  late.abort();
  await kill;
  if (isRunning(child)) await once(child, 'exit');
}
