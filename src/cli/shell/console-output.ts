import { styleText } from 'node:util';
import { toPrintable } from '../../base/safe-text.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { makeSafeStream, type SafeStream } from './safe-stream.ts';

type Format = Parameters<typeof styleText>[0];

/** Where a command writes: results to `out`, everything about them to `err`. */
export interface ConsoleOutput {
  readonly out: NodeJS.WritableStream;
  readonly err: NodeJS.WritableStream;
  /** A person watches: a screen may be drawn. */
  readonly isLive: boolean;
  paint(format: Format, text: string): string;
  /** How wide a report may be; undefined where nobody watches. */
  readonly columns?: number | undefined;
  /** From now on these are written as `***`, wherever a service sends them back. */
  hide?(secrets: readonly string[]): void;
}

/** Where a program writes: the process, unless another one calls it. */
export interface ProgramStreams {
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: NodeJS.WritableStream;
}

/** The streams of a program, with which a command may write whatever it was sent. */
export interface SafeStreams {
  readonly raw: ProgramStreams;
  readonly stdout: SafeStream;
  readonly stderr: SafeStream;
}

export function makeSafeStreams(raw: ProgramStreams): SafeStreams {
  return { raw, stdout: makeSafeStream(raw.stdout), stderr: makeSafeStream(raw.stderr) };
}

/** What a command writes to. Colour is left out with `--no-color`, NO_COLOR, or where nobody watches. */
export function makeConsoleOutput({ raw, stdout, stderr }: SafeStreams, wantsColor: boolean): ConsoleOutput {
  const isLive = raw.stdout.isTTY === true;
  const hasColor = wantsColor && isLive && process.env['NO_COLOR'] === undefined;
  return {
    out: stdout.stream,
    err: stderr.stream,
    isLive,
    hide: (secrets) => {
      stdout.hide(secrets);
      stderr.hide(secrets);
    },
    columns: isLive ? widthOf(raw.stdout.columns) : undefined,
    paint: (format, text) => (hasColor ? styleText(format, text) : text),
  };
}

// Longer lines are hard to read; where less room is said, a terminal breaks the lines.
const columnsMin = 60;
const columnsMax = 120;

/** Of a terminal that says how wide it is. */
function widthOf(columns: number | undefined): number | undefined {
  return columns === undefined || columns === 0
    ? undefined
    : Math.min(columnsMax, Math.max(columnsMin, columns));
}

/**
 * Prints JSON for programs. What a terminal would obey is escaped: such characters stand only inside of texts, where JSON
 * reads the escape as the very same character.
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
