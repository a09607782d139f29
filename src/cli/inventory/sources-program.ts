import type { Command } from 'commander';
import type { CommandRunner } from '../shell/command.ts';
import { collectAssignment } from './assignments.ts';
import { accountOption, fromOption, whichCollector, yesOption } from './collectors-program.ts';

const whichSource = ['<source>', 'its id, or its name'] as const;

const setOption = [
  '--set <name=value>',
  'one field, as in `collectors update` (repeatable)',
  collectAssignment,
] as const;

/** Adds `upwave sources …`. */
export function addSourcesProgram(program: Command, run: CommandRunner): void {
  const sources = program.command('sources').description('the sources of a collector');
  sources
    .command('list')
    .argument(...whichCollector)
    .description('every source of a collector')
    .action(run(async () => (await import('./read-sources.ts')).sourcesListCommand));
  sources
    .command('show')
    .argument(...whichCollector)
    .argument(...whichSource)
    .description('every field of one')
    .action(run(async () => (await import('./read-sources.ts')).sourcesShowCommand));
  sources
    .command('create')
    .argument(...whichCollector)
    .description('create one, or every one of an exported document')
    .option(...fromOption)
    .option(...setOption)
    .action(run(async () => (await import('./change-sources.ts')).sourcesCreateCommand));
  sources
    .command('update')
    .argument(...whichCollector)
    .argument(...whichSource)
    .description('set some fields, and keep the others as they are')
    .option(...fromOption)
    .option(...setOption)
    .action(run(async () => (await import('./change-sources.ts')).sourcesUpdateCommand));
  sources
    .command('delete')
    .argument(...whichCollector)
    .argument(...whichSource)
    .description('delete one; asks first')
    .option(...yesOption)
    .action(run(async () => (await import('./change-sources.ts')).sourcesDeleteCommand));
  sources
    .command('export')
    .argument(...whichCollector)
    .argument('[source]', 'only this one')
    .description('print the document that can register a new collector')
    .action(run(async () => (await import('./read-sources.ts')).sourcesExportCommand));
  for (const each of sources.commands) each.option(...accountOption);
}
