import type { Command } from 'commander';
import { urlOption } from '../rollouts/verbs-program.ts';
import type { CommandRunner } from '../shell/command.ts';

/** Adds `upwave status`. */
export function addStatusProgram(program: Command, run: CommandRunner): void {
  program
    .command('status')
    .argument('[rollout]', 'its id, or its policy')
    .description('a line a policy, what needs a person first; with a name, one rollout in a glance')
    .option('-w, --watch', 'show it live, with keys: arrows, / to search, enter, p to pause, q', false)
    .option(...urlOption)
    .action(run(async () => (await import('./status-command.ts')).statusCommand));
}
