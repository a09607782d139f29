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

/** The process's own output. Colour is left out with `--no-color`, NO_COLOR, or where nobody watches. */
export function makeConsoleOutput(wantsColor: boolean): ConsoleOutput {
  const isLive = process.stdout.isTTY === true;
  const hasColor = wantsColor && isLive && process.env['NO_COLOR'] === undefined;
  return {
    out: process.stdout,
    err: process.stderr,
    isLive,
    paint: (format, text) => (hasColor ? styleText(format, text) : text),
  };
}
