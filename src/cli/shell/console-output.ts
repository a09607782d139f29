import { styleText } from 'node:util';
import { toPrintable } from '../../base/safe-text.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { makeSafeStream, type SafeStream } from './safe-stream.ts';

type Format = Parameters<typeof styleText>[0];

/** The output of a command: results go to `out`, notes about them to `err`. */
export interface ConsoleOutput {
  readonly out: NodeJS.WritableStream;
  readonly err: NodeJS.WritableStream;
  /** True at a terminal, where a screen may be drawn. */
  readonly isLive: boolean;
  paint(format: Format, text: string): string;
  /** The width for text; undefined where the output is no terminal. */
  readonly columns?: number | undefined;
  /** From now on these texts are written as `***`, because a service may send them back. */
  addSecrets?(secrets: readonly string[]): void;
}

/** The streams of a program: those of the process, unless a test passes others. */
export interface ProgramStreams {
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: NodeJS.WritableStream;
}

/** The streams of a program, safe for texts from the service. */
export interface SafeStreams {
  readonly raw: ProgramStreams;
  readonly stdout: SafeStream;
  readonly stderr: SafeStream;
}

export function makeSafeStreams(raw: ProgramStreams): SafeStreams {
  return { raw, stdout: makeSafeStream(raw.stdout), stderr: makeSafeStream(raw.stderr) };
}

/** Makes the output of a command. It has no colour with `--no-color`, with NO_COLOR, or without a terminal. */
export function makeConsoleOutput({ raw, stdout, stderr }: SafeStreams, wantsColor: boolean): ConsoleOutput {
  const isLive = raw.stdout.isTTY === true;
  const hasColor = wantsColor && isLive && process.env['NO_COLOR'] === undefined;
  return {
    out: stdout.stream,
    err: stderr.stream,
    isLive,
    addSecrets: (secrets) => {
      stdout.addSecrets(secrets);
      stderr.addSecrets(secrets);
    },
    columns: isLive ? widthOf(raw.stdout.columns) : undefined,
    paint: (format, text) => (hasColor ? styleText(format, text) : text),
  };
}

// Longer lines are hard to read. A narrower value would make the terminal break lines.
const columnsMin = 60;
const columnsMax = 120;

/** The columns of a terminal that reports its width. */
function widthOf(columns: number | undefined): number | undefined {
  return columns === undefined || columns === 0
    ? undefined
    : Math.min(columnsMax, Math.max(columnsMin, columns));
}

/**
 * Prints JSON for programs, with terminal control characters escaped. They occur only in strings, where JSON reads the
 * escape as the same character.
 */
export function printJson(output: ConsoleOutput, value: unknown): void {
  const lines = JSON.stringify(value, null, 2).split('\n').map(toPrintable);
  output.out.write(`${lines.join('\n')}\n`);
}

/** Prints the answer of a command that is done. @param words for a person, without the last line end */
export function printAnswer(
  output: ConsoleOutput,
  { json }: { readonly json: boolean },
  value: unknown,
  words: () => string,
): ExitCode {
  if (json) printJson(output, value);
  else output.out.write(`${words()}\n`);
  return exitCodes.done;
}
