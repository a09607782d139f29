import type { Command } from 'commander';
import type { CommandRunner } from '../shell/command.ts';

/** Adds `upwave export`, which reads the state in Redis without a daemon. */
export function addStateProgram(program: Command, run: CommandRunner): void {
  program
    .command('export')
    .argument('<rollout>', 'its id, or its policy for the newest one')
    .description('the whole record of a rollout as JSON lines: itself, its groups, each upgrade, each event')
    .option('--out <file>', 'write to this file')
    .option(
      '--redis <url>',
      'another Redis than the config names, or `embedded` for the data of `run --redis embedded`',
    )
    .action(run(async () => (await import('./export-command.ts')).exportCommand));
}
