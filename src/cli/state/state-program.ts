import type { Command } from 'commander';
import type { CommandRunner } from '../shell/command.ts';

const redisOption = [
  '--redis <url>',
  'another Redis than the config names, or `embedded` for what `run --redis embedded` left',
] as const;

/** Adds what reads and writes the state in Redis without a daemon: `upwave export`, `backup` and `restore`. */
export function addStateProgram(program: Command, run: CommandRunner): void {
  program
    .command('export')
    .argument('<rollout>', 'its id, or its policy for the newest one')
    .description('the whole record of a rollout as JSON lines: itself, its groups, each upgrade, each event')
    .option('--out <file>', 'write to this file')
    .option(...redisOption)
    .action(
      run(async ({ config }, output, rollout: string, options: { out?: string; redis?: string }) =>
        (await import('./export-command.ts')).exportCommand(rollout, { config, ...options }, output),
      ),
    );
  program
    .command('backup')
    .description('write the state in Redis to a file, from which `restore` can go on')
    .requiredOption('--out <file>', 'write to this file')
    .option(...redisOption)
    .action(
      run(async ({ config, json }, output, options: { out: string; redis?: string }) =>
        (await import('./backup-command.ts')).backupCommand({ config, json, ...options }, output),
      ),
    );
  program
    .command('restore')
    .argument('<file>', 'what `backup` wrote')
    .description('put a backup into Redis, while no daemon runs')
    .option('--yes', 'replace the state that is there', false)
    .option(...redisOption)
    .action(
      run(async ({ config, json }, output, file: string, options: { yes: boolean; redis?: string }) =>
        (await import('./restore-command.ts')).restoreCommand(file, { config, json, ...options }, output),
      ),
    );
}
