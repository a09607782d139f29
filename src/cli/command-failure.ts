import type { ExitCode } from './exit-codes.ts';

/** A command that could not do what it was asked, in words for the person who asked; shown without a stack. */
export class CommandFailure extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandFailure';
    this.exitCode = exitCode;
  }
}
