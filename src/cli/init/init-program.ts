import type { Command } from 'commander';
import type { CommandRunner } from '../shell/command.ts';

/** Adds `upwave init`. */
export function addInitProgram(program: Command, run: CommandRunner): void {
  program
    .command('init')
    .description(
      'write a first config: asks for the service and its key, tries the key, and overwrites nothing; the file is --config',
    )
    .option('--base-url <url>', 'the API of your deployment, such as https://api.example.com/api')
    .option('--access-id <id>', 'the access id; its key is asked for, or taken from UPWAVE_ACCESS_KEY')
    .option('-y, --yes', 'ask nothing: take all from the options and UPWAVE_ACCESS_KEY', false)
    .option('--no-check', 'do not try the key')
    .action(run(async () => (await import('./init-command.ts')).initCommand));
}
