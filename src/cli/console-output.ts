import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

/** Where a command writes: results to `out`, everything about them to `err`. */
export interface ConsoleOutput {
  readonly out: NodeJS.WritableStream;
  readonly err: NodeJS.WritableStream;
  /** A person watches: bars may move. */
  readonly isLive: boolean;
  paint(format: Format, text: string): string;
}

/** Where a program writes: the process, unless another one calls it. */
export interface ProgramStreams {
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly stderr: NodeJS.WritableStream;
}

/** What a command writes to. Colour is left out with `--no-color`, NO_COLOR, or where nobody watches. */
export function makeConsoleOutput({ stdout, stderr }: ProgramStreams, wantsColor: boolean): ConsoleOutput {
  const isLive = stdout.isTTY === true;
  const hasColor = wantsColor && isLive && process.env['NO_COLOR'] === undefined;
  return {
    out: stdout,
    err: stderr,
    isLive,
    paint: (format, text) => (hasColor ? styleText(format, text) : text),
  };
}
