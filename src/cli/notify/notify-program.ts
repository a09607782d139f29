import type { Command } from 'commander';
import type { CommandRunner } from '../shell/command.ts';

/** Adds `upwave notify test`. */
export function addNotifyProgram(program: Command, run: CommandRunner): void {
  program
    .command('notify')
    .description('notifications to people')
    .command('test')
    .argument('[receiver]', 'the name of one receiver; without it, all of them')
    .description('send a test message to the receivers of the config, from this machine')
    .action(run(async () => (await import('./notify-test-command.ts')).notifyTestCommand));
}
