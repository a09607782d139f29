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

/** Control characters in names must not move the cursor: they are shown as what they are. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point.
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
