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

/** A command that could not do what it was asked, in words for the person who asked; shown without a stack. */
export class CommandFailure extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandFailure';
    this.exitCode = exitCode;
  }
}
