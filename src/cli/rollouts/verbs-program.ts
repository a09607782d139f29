import { type Command, Option } from 'commander';
import { upgradeFailureClasses } from '../../base/vocabulary.ts';
import { reportFormats } from '../../rollout/report/write-report.ts';
import { commandName } from '../../rollout/status/command-for.ts';
import { type RolloutVerb, rolloutVerbs } from '../../rollout/verbs/judge-verb.ts';
import type { CommandRunner } from '../shell/command.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { readSubjects, wholeNumber } from '../shell/option-values.ts';
import type { HoldOptions } from './holds-commands.ts';
import type { VerbOptions } from './verb-command.ts';
import { verbDescriptions } from './verb-table.ts';

export const urlOption = [
  '--url <url>',
  'the daemon, such as http://127.0.0.1:9464; default: UPWAVE_URL, then the config; the token is read from UPWAVE_TOKEN',
] as const;
const reasonOption = ['--reason <text>', 'why, for the events and for other operators'] as const;
const held = [
  '<what...>',
  'collectors by id or name, builds, a stratum by its label, such as "Linux / amd64 / 19.441-2", or a shared attribute, such as "fields.rack=r7"; quote texts with blanks',
] as const;

const yesOption = (words: string) => new Option('-y, --yes', words).default(false);

/** Options of some verbs beside the reason. Each verb that asks has `--yes`. */
const verbOptions: Partial<Record<RolloutVerb, readonly Option[]>> = {
  approve: [
    new Option('--plan <hash>', 'the plan that waits; refused when another plan waits'),
    new Option('--wave <name>', 'the wave that waits; refused when another wave waits'),
    yesOption('approve what is shown without asking'),
  ],
  skipSoak: [
    new Option('--wave <name>', 'the wave that soaks; refused when another wave soaks'),
    yesOption('end the soak that is shown without asking'),
  ],
  resume: [
    new Option(
      '--hold <number>',
      'the hold that `status` shows; refused when the rollout has another hold by now',
    ).argParser(wholeNumber),
    yesOption('end the hold or pause that is shown without asking'),
  ],
  abort: [yesOption('end it without asking')],
  rollback: [
    new Option(
      '--collectors <count>',
      'how many collectors the preview shows; refused when there are more by now, apart from those upgraded meanwhile',
    ).argParser(wholeNumber),
    yesOption('start what is shown without asking'),
    new Option(
      '--now',
      'start also outside the windows and inside the freezes of the policy, and without its pace',
    ).default(false),
  ],
  retry: [
    new Option(
      '--failed <count>',
      'how many failures `status` shows; refused when there are more by now',
    ).argParser(wholeNumber),
    new Option(
      '--cause <words>',
      `only failures of this class (${upgradeFailureClasses.join(', ')}), or with these words in their reason`,
    ),
    yesOption('retry what is shown without asking'),
  ],
};

const whichByVerb: Partial<Record<RolloutVerb, string>> = {
  approve: 'not needed when only one waits',
  rollback: 'not needed when only one is running, or there is only one policy',
  retry: 'not needed when only one is running, or there is only one policy',
};

/** Adds the commands that a running daemon answers: the verbs, `hold`, `release`, `holds` and `explain`. */
export function addVerbsProgram(program: Command, run: CommandRunner): void {
  program
    .command('report')
    .helpGroup('Show:')
    .argument('[rollout]', 'its id, or its policy; not needed when there is only one')
    .description(
      'a report for a change ticket: what was upgraded and when, what failed and why, who did what',
    )
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
    .description('why a collector is not upgraded now, and when it will be, for each policy')
    .option(...urlOption)
    .action(run(async () => (await import('./explain-command.ts')).explainCommand));
  for (const verb of rolloutVerbs) addVerb(program, run, verb);
  for (const verb of ['hold', 'release'] as const) {
    program
      .command(verb)
      .argument(...held)
      .description(
        verb === 'hold'
          ? 'start no upgrade of a collector, a group or a stratum, or to a build, until its release'
          : 'end a hold: its collectors can be upgraded again',
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
  addStart(program, run);
  addReload(program, run);
  program
    .command('holds')
    .helpGroup('Show:')
    .description('builds, collectors, groups and strata that are held: by whom, since when, and why')
    .option(...urlOption)
    .action(run(async () => (await import('./holds-commands.ts')).holdsCommand));
}

function addStart(program: Command, run: CommandRunner): void {
  program
    .command('start')
    .argument('<policy>', 'its name')
    .description(
      'show what a rollout of the policy would do now, ask, and start it; also after an abort or a rollback to this build',
    )
    .option('--plan <hash>', 'start this plan without asking; any other plan is refused')
    .option('-y, --yes', 'start what is shown without asking', false)
    .option(...reasonOption)
    .option(...urlOption)
    .action(run(async () => (await import('./start-command.ts')).startCommand));
}

function addReload(program: Command, run: CommandRunner): void {
  program
    .command('reload')
    .description(
      'make the daemon read its config file again: limits reach running rollouts immediately, plans stay; a file with errors changes nothing',
    )
    .option('--dry-run', 'only show what would change, and for which running rollouts', false)
    .option(...reasonOption)
    .option(...urlOption)
    .action(run(async () => (await import('./reload-command.ts')).reloadCommand));
}

function addVerb(program: Command, run: CommandRunner, verb: RolloutVerb): void {
  const which = whichByVerb[verb] ?? 'not needed when only one is running';
  const command = program
    .command(commandName(verb))
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
