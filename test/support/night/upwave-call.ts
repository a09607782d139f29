import { Writable } from 'node:stream';
import { runProgram } from '../../../src/cli/program.ts';
import { watchOutput } from '../setup/secret-watch.ts';
import type { ProcessResult } from './upwave-process.ts';

/** The output and exit code of a command. */
export type CallResult = Omit<ProcessResult, 'signal'>;

/**
 * Calls `upwave …` in this process, without the half second of a start: for what it says and how it ends. Its folder and
 * environment are those of the tests, so `--config` names its file. That the process itself ends then, with this code,
 * is for `runUpwave`.
 */
export async function callUpwave(...args: readonly string[]): Promise<CallResult> {
  const stdout = collect();
  const stderr = collect();
  const before = signals.map((signal) => [signal, new Set(process.listeners(signal))] as const);
  try {
    const code = await runProgram(['node', 'upwave', ...args], {
      stdout: stdout.stream,
      stderr: stderr.stream,
    });
    return { code, out: stdout.text(), err: stderr.text(), all: stdout.text() + stderr.text() };
  } finally {
    watchOutput('upwave', stdout.text() + stderr.text());
    // A process takes them with it.
    for (const [signal, known] of before)
      for (const listener of process.listeners(signal))
        if (!known.has(listener)) process.removeListener(signal, listener);
  }
}

const signals = ['SIGINT', 'SIGTERM'] as const;

function collect(): { readonly stream: Writable; readonly text: () => string } {
  const pieces: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(piece: string | Buffer, _encoding, done) {
      pieces.push(piece.toString());
      done();
    },
  });
  return { stream, text: () => pieces.join('') };
}
