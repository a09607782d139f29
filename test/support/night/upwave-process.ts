import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { aFolder } from '../a-folder.ts';
import { watchOutput } from '../setup/secret-watch.ts';
import { until } from '../until.ts';

const main = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

// A command that hangs must not hang the tests; a daemon lives as long as its test.
const killAfterDefaultMs = 170_000;

export interface ProcessInput {
  readonly args: readonly string[];
  /** Beside PATH and HOME, nothing of our own environment reaches it. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** A bound for what hangs; nearly three minutes where left out. */
  readonly killAfterMs?: number;
  /** It has a terminal, of 80 × 24 by default, on which `type` writes; all that it prints comes in `out`. Needs `script`. */
  readonly atTerminal?: boolean | { readonly columns: number; readonly rows: number };
  /** Its limit of open descriptors, as `ulimit -n` sets it; that of the tests where left out. */
  readonly openFilesMax?: number;
}

export interface ProcessResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
  /** Both, for rules about everything that was printed. */
  readonly all: string;
}

/** `upwave …` as a process. */
export type UpwaveProcess = ReturnType<typeof startUpwave>;

/** Starts `upwave` with these arguments. */
export function startUpwave({
  args,
  env,
  cwd,
  killAfterMs = killAfterDefaultMs,
  openFilesMax,
  atTerminal = false,
}: ProcessInput) {
  const { PATH = '', HOME = '' } = process.env;
  const command = [process.execPath, main, ...args];
  const { columns, rows } = typeof atTerminal === 'object' ? atTerminal : { columns: 80, rows: 24 };
  const [file = '', ...rest] = atTerminal
    ? ['script', '-qefc', `stty cols ${columns} rows ${rows}; ${command.map(quoted).join(' ')}`, '/dev/null']
    : openFilesMax === undefined
      ? command
      : ['sh', '-c', `ulimit -n ${openFilesMax}; exec "$@"`, 'sh', ...command];
  const child = spawn(file, rest, {
    env: { PATH, HOME, ...env },
    cwd,
    stdio: [atTerminal ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
  const out = collect(child.stdout);
  const err = collect(child.stderr);
  return {
    pid: child.pid ?? 0,
    out,
    err,
    ended: ended(child, { out, err, killAfterMs }),
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    /** Types on its terminal. */
    type: (text: string) => void child.stdin?.write(text),
  };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Runs `upwave` to its end. */
export function runUpwave(input: ProcessInput): Promise<ProcessResult> {
  return startUpwave(input).ended;
}

/** The address in the first log line of `upwave run`. */
export function daemonUrl(daemon: UpwaveProcess): Promise<string> {
  return until('the daemon to listen', () => /listening on (http:\/\/[^,\s"]+)/.exec(daemon.out())?.[1]);
}

/** A folder for config files, removed after the test. */
export function aConfigFolder(atEnd: (work: () => void) => void) {
  const path = aFolder(atEnd);
  return {
    path,
    /** @returns the file's path */
    write: (name: string, content: string | object) => {
      const file = join(path, name);
      // JSON is YAML, too.
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
      return file;
    },
  };
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  let text = '';
  stream?.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  return () => text;
}

function ended(
  child: ChildProcess,
  { out, err, killAfterMs }: { out: () => string; err: () => string; killAfterMs: number },
): Promise<ProcessResult> {
  const giveUp = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(giveUp);
      watchOutput('upwave', out() + err());
      resolve({ code, signal, out: out(), err: err(), all: out() + err() });
    });
  });
}
