import { type Command, Option } from 'commander';
import { urlOption } from '../rollouts/verbs-program.ts';
import type { CommandRunner } from '../shell/command.ts';
import { wholeDays } from '../shell/option-values.ts';
import { collectAssignment } from './assignments.ts';

export const whichCollector = ['<collector>', 'its id, or its name'] as const;
export const fromOption = ['--from <file>', 'fields in a JSON or YAML file'] as const;
const setOption = [
  '--set <name=value>',
  'one field: a text or JSON; `name=` clears it, `fields.team=core` sets one key of a map (repeatable)',
  collectAssignment,
] as const;
export const accountOption = ['--account <name>', 'the account, where the config has several'] as const;
export const yesOption = ['-y, --yes', 'do not ask', false] as const;

/** Adds `upwave collectors …` and `upwave builds`. */
export function addCollectorsProgram(program: Command, run: CommandRunner): void {
  const collectors = program.command('collectors').description('the collectors of the account');
  collectors
    .command('list')
    .description('all collectors, or those that match')
    .addOption(new Option('--filter <part>', 'only these').choices(['installed', 'hosted', 'dead', 'alive']))
    .addOption(
      new Option(
        '--offline-days <days>',
        'only installed collectors that were last seen alive at least this many days ago',
      )
        .argParser(wholeDays)
        .conflicts('filter'),
    )
    .option('--match <pattern>', 'only names that match: a glob, or /a regular expression/')
    .action(run(async () => (await import('./read-collectors.ts')).collectorsListCommand));
  collectors
    .command('show')
    .argument(...whichCollector)
    .description('every field of one')
    .action(run(async () => (await import('./read-collectors.ts')).collectorsShowCommand));
  collectors
    .command('create')
    .description('create a hosted collector; installed ones register themselves')
    .option(...fromOption)
    .option(...setOption)
    .action(run(async () => (await import('./change-collectors.ts')).collectorsCreateCommand));
  collectors
    .command('update')
    .argument(...whichCollector)
    .description('set some fields, and keep the others as they are')
    .option(...fromOption)
    .option(...setOption)
    .action(run(async () => (await import('./change-collectors.ts')).collectorsUpdateCommand));
  collectors
    .command('delete')
    .argument(...whichCollector)
    .description('delete one, with its sources; asks first')
    .option(...yesOption)
    .action(run(async () => (await import('./delete-collectors.ts')).collectorsDeleteCommand));
  collectors
    .command('delete-offline')
    .description('delete every installed collector that has been offline for long; asks first')
    .requiredOption('--days <days>', 'last seen alive at least this many days ago', wholeDays)
    .option(...yesOption)
    .action(run(async () => (await import('./delete-collectors.ts')).collectorsDeleteOfflineCommand));
  for (const each of collectors.commands) each.option(...accountOption);
  program
    .command('builds')
    .description('the builds that the service offers, or what builds did in ended rollouts')
    .option('--history', 'what each build did in ended rollouts, as the daemon recorded it', false)
    .option(...accountOption)
    .option(...urlOption)
    .action(run(async () => (await import('./builds-command.ts')).buildsCommand));
}
