import type { Command } from 'commander';
import { urlOption } from '../rollouts/verbs-program.ts';
import type { CommandRunner } from '../shell/command.ts';

/** Adds `upwave plan`, `upwave diff` and `upwave config check`, which write nothing. */
export function addPlanProgram(program: Command, run: CommandRunner): void {
  program
    .command('plan')
    .argument('[policy]', 'only this one')
    .description(
      'what a rollout would do now: the waves, each collector left out with its reason, time and requests; asks the daemon for holds; writes nothing',
    )
    .option('--members', 'name every collector', false)
    .option(...urlOption)
    .action(run(async () => (await import('./plan-command.ts')).planCommand));
  program
    .command('diff')
    .argument('[policy|rollout]', 'a policy, or a rollout by its id; default: all policies')
    .description(
      'what has changed since the running or last rollout: collectors that are new, gone or in another wave, the target, and settings that the daemon has not read yet; writes nothing',
    )
    .option('--members', 'name every collector that is new, gone or in another wave', false)
    .option(...urlOption)
    .action(run(async () => (await import('./diff-command.ts')).diffCommand));
  program
    .command('config')
    .description('check the config file')
    .command('check')
    .description(
      'report every error in the config file, each with its line and column; with --json, as a list',
    )
    .option(
      '--fleet',
      'also read the inventory: which policy matches nothing, and which two claim the same collectors',
      false,
    )
    .option('--no-secrets', 'do not read the files with secrets, which may be on another machine')
    .option('--print', 'print the whole config with its defaults, secrets masked', false)
    .action(run(async () => (await import('./config-check-command.ts')).configCheckCommand));
}
