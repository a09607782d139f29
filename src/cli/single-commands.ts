import { Argument, type Command } from 'commander';
import { completionLines, completionScripts, type Shell, shells } from './completion/completion-script.ts';
import type { ReadValues } from './completion/value-kinds.ts';
import { urlOption } from './rollouts/verbs-program.ts';
import type { CommandOptions, CommandRunner } from './shell/command.ts';
import type { ConsoleOutput } from './shell/console-output.ts';
import { type ExitCode, exitCodes } from './shell/exit-codes.ts';

/** Adds `upwave status`. */
export function addStatusProgram(program: Command, run: CommandRunner): void {
  program
    .command('status')
    .argument('[rollout]', 'its id, or its policy')
    .description(
      'one line for each policy, those that need a person first; with a name, one rollout at a glance',
    )
    .option(
      '-w, --watch',
      'show it live, with keys: arrows, / to search, enter, a to approve, r to resume, p to pause, h to hold, l to release, s to start, ? for all keys, q',
      false,
    )
    .option(...urlOption)
    .action(run(async () => (await import('./status/status-command.ts')).statusCommand));
}

/** Adds `upwave init`. */
export function addInitProgram(program: Command, run: CommandRunner): void {
  program
    .command('init')
    .description(
      'write a first config to the file of --config: asks for the service and its key, tries the key, and overwrites nothing',
    )
    .option('--base-url <url>', 'the API of your deployment, such as https://api.example.com/api')
    .option('--access-id <id>', 'the access id; the key is asked for, or read from UPWAVE_ACCESS_KEY')
    .option('-y, --yes', 'ask nothing: read everything from the options and UPWAVE_ACCESS_KEY', false)
    .option('--no-check', 'do not try the key')
    .action(run(async () => (await import('./init/init-command.ts')).initCommand));
}

/** Adds `upwave export`, which reads the state in Redis without a daemon. */
export function addStateProgram(program: Command, run: CommandRunner): void {
  program
    .command('export')
    .argument('<rollout>', 'its id, or its policy for the newest one')
    .description('the whole record of a rollout as JSON lines: the rollout, its groups, upgrades and events')
    .option('--out <file>', 'write to this file')
    .option(
      '--redis <url>',
      'a Redis other than that of the config, or `embedded` for the data of `run --redis embedded`',
    )
    .action(run(async () => (await import('./state/export-command.ts')).exportCommand));
}

/** Adds `upwave notify test`. */
export function addNotifyProgram(program: Command, run: CommandRunner): void {
  program
    .command('notify')
    .description('notifications')
    .command('test')
    .argument('[receiver]', 'the name of one receiver; without it, all of them')
    .description('send a test message to the receivers of the config, from this machine')
    .action(run(async () => (await import('./notify/notify-test-command.ts')).notifyTestCommand));
}

/** Adds `upwave completion`. */
export function addCompletionProgram(program: Command, run: CommandRunner): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell that reads it').choices(shells))
    .argument('[words...]', 'the words that were typed, for which the script asks')
    .description(
      'print a script that completes commands, options, and values that a running daemon knows, in a shell',
    )
    .action(
      run(
        async () =>
          async (
            shell: Shell,
            words: readonly string[],
            { config }: CommandOptions,
            output: ConsoleOutput,
          ): Promise<ExitCode> => {
            // The client of the daemon is loaded only where it is asked.
            const ask: ReadValues = async (asked) =>
              (await import('./completion/read-values.ts')).readValues(asked, config);
            const read = { values: ask, topics: helpTopics };
            const isAsked = words.length > 0;
            const text = isAsked ? completionLines(program, shell, words, read) : completionScripts[shell];
            output.out.write(await text);
            return exitCodes.done;
          },
      ),
    );
}

/** Reads the guides, which other words need not wait for. */
async function helpTopics() {
  const { namedTopics } = await import('./help/help-topic.ts');
  return namedTopics().map(({ name, answers }) => ({ name, help: answers }));
}
