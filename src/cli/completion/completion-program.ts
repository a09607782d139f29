import { Argument, type Command } from 'commander';
import type { CommandRunner } from '../shell/command.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { exitCodes } from '../shell/exit-codes.ts';
import { completionScript, type Shell, shells } from './completion-script.ts';

/** Adds `upwave completion`. */
export function addCompletionProgram(program: Command, run: CommandRunner): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell that reads it').choices(shells))
    .description('print the script with which a shell completes commands and options')
    .action(
      run(async () => (shell: Shell, _options: unknown, output: ConsoleOutput) => {
        output.out.write(completionScript(program, shell));
        return exitCodes.done;
      }),
    );
}
