import { Command } from 'commander';
import type { ConsoleOutput } from './console-output.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { endAtHangUp } from './hang-up.ts';

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
 * Every command takes its arguments in order, then its own options together with the global ones, then its output.
 */
type CommandFunction = (...args: never[]) => Promise<ExitCode> | ExitCode;

/**
 * Makes the action of the command line from a command, and sets the exit code. A command is loaded only when it is called,
 * because its libraries (zod, undici, BullMQ, ioredis, fastify) would slow down every other command and each usage error.
 */
export type CommandRunner = (load: () => Promise<CommandFunction>) => (...passed: unknown[]) => Promise<void>;

export function makeCommandRunner(parts: {
  readonly globals: () => GlobalOptions;
  readonly outputFor: (globals: GlobalOptions) => ConsoleOutput;
  readonly onEnd: (exitCode: ExitCode) => void;
}): CommandRunner {
  return (load) =>
    async (...passed) => {
      const globals = parts.globals();
      // Commander passes the arguments, then the command's own options, then the command itself.
      const args = passed.slice(0, -2);
      const options = { ...globals, ...(passed.at(-2) as object) };
      if (!followsHangUps(passed.at(-1))) endAtHangUp();
      const command = (await load()) as (...all: readonly unknown[]) => Promise<ExitCode> | ExitCode;
      parts.onEnd(await command(...args, options, parts.outputFor(globals)));
    };
}

/** The daemon reads its config again at a SIGHUP. */
function followsHangUps(command: unknown): boolean {
  return command instanceof Command && command.name() === 'run';
}

/** A command failed. The message is for the operator, and is shown without a stack. */
export class CommandFailure extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandFailure';
    this.exitCode = exitCode;
  }
}

/** A mistake of the operator in the command, in the config, or in a file. */
export class UsageFailure extends CommandFailure {
  constructor(message: string, options?: ErrorOptions) {
    super(exitCodes.usageOrConfig, message, options);
  }
}
