import { type Command, Option } from 'commander';
import { upgradeFailureClasses } from '../../base/vocabulary.ts';
import { reportFormats } from '../../rollout/report/write-report.ts';
import { commandNames } from '../../rollout/status/command-for.ts';
import { type RolloutVerb, rolloutVerbs } from '../../rollout/verbs/verbs.ts';
import type { CommandRunner } from '../shell/command.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { readSubjects, wholeNumber } from '../shell/option-values.ts';
import type { HoldOptions } from './holds-commands.ts';
import type { VerbOptions } from './verb-command.ts';
import { verbDescriptions } from './verb-table.ts';

export const urlOption = [
  '--url <url>',
  'the daemon, e.g. http://127.0.0.1:9464, else UPWAVE_URL, else by the config; the token is taken from UPWAVE_TOKEN',
] as const;
const reasonOption = ['--reason <text>', 'why, for the events and for other operators'] as const;
const held = [
  '<what...>',
  'collectors by id or name, builds, a stratum by its label, such as "Linux / amd64 / 19.441-2", or what collectors share, such as "fields.rack=r7"; quote what has blanks',
] as const;

/** What some verbs take beside a reason. */
const verbOptions: Partial<Record<RolloutVerb, readonly Option[]>> = {
  approve: [
    new Option('--plan <hash>', 'the plan that waits; refused when another one does'),
    new Option('--wave <name>', 'the wave that waits; refused when another one does'),
  ],
  skipSoak: [new Option('--wave <name>', 'the wave that soaks; refused when another one does')],
  resume: [
    new Option(
      '--hold <number>',
      'the hold that the status shows; refused when the rollout has another hold by now',
    ).argParser(wholeNumber),
  ],
  rollback: [
    new Option('-y, --yes', 'start without asking').default(false),
    new Option('--now', 'start also outside the windows and inside the freezes of the policy').default(false),
  ],
  retry: [
    new Option(
      '--failed <count>',
      'how many the status shows as failed; refused when more have by now',
    ).argParser(wholeNumber),
    new Option(
      '--class <class>',
      `only failures of this class (${upgradeFailureClasses.join(', ')}), or with these words in their reason`,
    ),
  ],
};

const whichByVerb: Partial<Record<RolloutVerb, string>> = {
  approve: 'not needed when only one waits',
  rollback: 'not needed when only one is running, or there is only one policy',
  retry: 'not needed when only one is running, or there is only one policy',
};

/** Adds what is asked of a running daemon: the verbs, `hold`, `release`, `holds` and `explain`. */
export function addVerbsProgram(program: Command, run: CommandRunner): void {
  program
    .command('report')
    .helpGroup('Show:')
    .argument('[rollout]', 'its id, or its policy; not needed when there is only one')
    .description('what went where and when, what failed and why, who did what: for a change ticket')
    .addOption(
      new Option('--format <format>', 'one HTML file that needs nothing else, or Markdown')
        .choices([...reportFormats])
        .default('md'),
    )
    .option('--out <file>', 'write to this file')
    .option(...urlOption)
    .action(run(async () => (await import('./report-command.ts')).reportCommand));
  program
    .command('explain')
    .helpGroup('Show:')
    .argument('<collector>', 'its id, or its name')
    .description('why a collector is not upgraded now, and when: where it stands with each policy')
    .option(...urlOption)
    .action(run(async () => (await import('./explain-command.ts')).explainCommand));
  for (const verb of rolloutVerbs) addVerb(program, run, verb);
  for (const verb of ['hold', 'release'] as const) {
    program
      .command(verb)
      .argument(...held)
      .description(
        verb === 'hold'
          ? 'start no upgrade of a collector, to a build, or in a stratum, until it is released'
          : 'let what was held be upgraded again',
      )
      .option(...reasonOption)
      .option(...urlOption)
      .action(
        run(async () => {
          const { holdCommand } = await import('./holds-commands.ts');
          return (words: readonly string[], options: HoldOptions, output: ConsoleOutput) =>
            holdCommand(verb, readSubjects(words), options, output);
        }),
      );
  }
  addRepair(program, run);
  addStart(program, run);
  addReload(program, run);
  program
    .command('holds')
    .helpGroup('Show:')
    .description('builds, collectors and strata that are held: by whom, since when, and why')
    .option(...urlOption)
    .action(run(async () => (await import('./holds-commands.ts')).holdsCommand));
}

function addRepair(program: Command, run: CommandRunner): void {
  program
    .command('repair')
    .argument('<rollout>', 'its id, or its policy')
    .argument('[collector]', 'the id of one collector; else all corrupt records of the rollout', wholeNumber)
    .description(
      'find records in Redis that cannot be read, show what would become of them, ask, and settle them; a rollout whose own record is corrupt ends as aborted',
    )
    .option('--watch', 'watch upgrades that may run to their deadline, and withdraw the others', false)
    .option('--withdraw', 'withdraw all of them: nothing of them runs', false)
    .option('-y, --yes', 'repair without asking', false)
    .option(...reasonOption)
    .option(...urlOption)
    .action(run(async () => (await import('./repair-command.ts')).repairCommand));
}

function addStart(program: Command, run: CommandRunner): void {
  program
    .command('start')
    .argument('<policy>', 'its name')
    .description(
      'show what a rollout of the policy would do now, ask, and start it; also where the last one to this build was aborted or rolled back',
    )
    .option('--plan <hash>', 'start this plan without asking; another one is refused')
    .option('-y, --yes', 'start what is shown without asking', false)
    .option(...reasonOption)
    .option(...urlOption)
    .action(run(async () => (await import('./start-command.ts')).startCommand));
}

function addReload(program: Command, run: CommandRunner): void {
  program
    .command('reload')
    .description(
      'let the daemon read its config file again: brakes reach running rollouts at once, plans stay; a file with mistakes changes nothing',
    )
    .option('--dry-run', 'only show what would change, and for which running rollouts', false)
    .option(...reasonOption)
    .option(...urlOption)
    .action(run(async () => (await import('./reload-command.ts')).reloadCommand));
}

function addVerb(program: Command, run: CommandRunner, verb: RolloutVerb): void {
  const which = whichByVerb[verb] ?? 'not needed when only one is running';
  const command = program
    .command(commandNames[verb])
    .argument('[rollout]', `its id, or its policy; ${which}`)
    .description(verbDescriptions[verb])
    .option(...reasonOption)
    .option(...urlOption);
  for (const option of verbOptions[verb] ?? []) command.addOption(option);
  command.action(
    run(async () => {
      const { verbCommand } = await import('./verb-command.ts');
      return (rollout: string | undefined, options: VerbOptions, output: ConsoleOutput) =>
        verbCommand(verb, rollout, options, output);
    }),
  );
}
