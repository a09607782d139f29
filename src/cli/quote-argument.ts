import { toPrintable } from '../base/printable.ts';

/** A text as one argument of a command that is meant to be copied: names come from machines, and a shell obeys some. */
export function quoteArgument(text: string): string {
  const printable = toPrintable(text);
  if (/^[\w./:@+-]+$/.test(printable)) return printable;
  return /^[\w./:@+ ,()=-]+$/.test(printable) ? `"${printable}"` : `'${printable.replaceAll("'", "'\\''")}'`;
}
