import type { ConsoleOutput } from './console-output.ts';
import type { ExitCode } from './exit-codes.ts';

/** Options that every command takes. */
export interface GlobalOptions {
  readonly config: string;
  readonly json: boolean;
  readonly color: boolean;
}

/** Makes what the command line calls out of what a command is: it gets the global options, and its exit code counts. */
export type CommandRunner = <Args extends readonly unknown[]>(
  action: (globals: GlobalOptions, output: ConsoleOutput, ...args: Args) => Promise<ExitCode> | ExitCode,
) => (...args: Args) => Promise<void>;
