import { toPrintable } from '../base/printable.ts';
import type { ConsoleOutput } from './console-output.ts';

/**
 * Prints JSON for programs. What a terminal would obey is escaped: such characters stand only inside of texts, where JSON
 * reads the escape as the very same character.
 */
export function printJson(output: ConsoleOutput, value: unknown): void {
  const lines = JSON.stringify(value, null, 2).split('\n').map(toPrintable);
  output.out.write(`${lines.join('\n')}\n`);
}
