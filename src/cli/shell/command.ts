import type { ConsoleOutput } from './console-output.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';

/** Options that every command takes. */
export interface CommandOptions {
  readonly config: string;
  readonly json: boolean;
}

/** The same with what is for the output alone. */
export interface GlobalOptions extends CommandOptions {
  readonly color: boolean;
}

/**
 * What every command is: it gets its arguments in their order, then its own options together with the global ones, then
 * where it prints.
 */
type CommandFunction = (...args: never[]) => Promise<ExitCode> | ExitCode;

/**
 * Makes what the command line calls out of a command, whose exit code counts. A command is loaded only when it is asked
 * for: what it needs (zod, undici, BullMQ, ioredis, fastify) would make every other one wait, and a usage error, too.
 */
export type CommandRunner = (load: () => Promise<CommandFunction>) => (...given: unknown[]) => Promise<void>;

export function makeCommandRunner(parts: {
  readonly globals: () => GlobalOptions;
  readonly outputFor: (globals: GlobalOptions) => ConsoleOutput;
  readonly onEnd: (exitCode: ExitCode) => void;
}): CommandRunner {
  return (load) =>
    async (...given) => {
      const globals = parts.globals();
      // Commander gives the arguments, then the command's own options, then the command itself.
      const args = given.slice(0, -2);
      const options = { ...globals, ...(given.at(-2) as object) };
      const command = (await load()) as (...all: readonly unknown[]) => Promise<ExitCode> | ExitCode;
      parts.onEnd(await command(...args, options, parts.outputFor(globals)));
    };
}

/** A command that could not do what it was asked, in words for the person who asked; shown without a stack. */
export class CommandFailure extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandFailure';
    this.exitCode = exitCode;
  }
}

/** The mistake of a person: in the command, in the config, or in a file that was given. */
export class UsageFailure extends CommandFailure {
  constructor(message: string, options?: ErrorOptions) {
    super(exitCodes.usageOrConfig, message, options);
  }
}
