import { Command, CommanderError } from 'commander';
import { toPrintable } from '../base/safe-text.ts';
import { addHelpProgram } from './help/help-program.ts';
import { addHistoryProgram } from './history/history-program.ts';
import { addCollectorsProgram } from './inventory/collectors-program.ts';
import { addSourcesProgram } from './inventory/sources-program.ts';
import { addPlanProgram } from './plan/plan-program.ts';
import { addRehearseProgram } from './rehearse/rehearse-program.ts';
import { addVerbsProgram } from './rollouts/verbs-program.ts';
import { addRunProgram, addServiceProgram } from './run/run-program.ts';
import {
  CommandFailure,
  type CommandRunner,
  type GlobalOptions,
  makeCommandRunner,
} from './shell/command.ts';
import {
  makeConsoleOutput,
  makeSafeStreams,
  type ProgramStreams,
  type SafeStreams,
} from './shell/console-output.ts';
import { type ExitCode, exitCodes } from './shell/exit-codes.ts';
import { completeHelp } from './shell/program-help.ts';
import { suggestCommands } from './shell/suggest-command.ts';
import { readVersion } from './shell/version.ts';
import {
  addCompletionProgram,
  addInitProgram,
  addNotifyProgram,
  addStateProgram,
  addStatusProgram,
} from './single-commands.ts';

/** Runs the command line. A failure that a person can repair prints one line. Anything else is a bug and prints its stack. */
export async function runProgram(argv: readonly string[], raw: ProgramStreams = process): Promise<ExitCode> {
  const streams = makeSafeStreams(raw);
  let exitCode: ExitCode = exitCodes.done;
  // Known before the command line is understood: what is wrong with it is printed as JSON, too.
  const isJson = argv.includes('--json');
  const program = makeProgram(streams, isJson, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...argv]);
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? exitCodes.done : exitCodes.usageOrConfig;
    if (!(error instanceof CommandFailure)) throw error;
    const { stream } = streams.stderr;
    stream.write(isJson ? errorJson(error.exitCode, error.message) : `upwave: ${error.message}\n`);
    return error.exitCode;
  }
}

function errorJson(exitCode: ExitCode, message: string): string {
  return `${toPrintable(JSON.stringify({ error: { exitCode, message } }))}\n`;
}

/** Every command, ready to parse a command line. */
export function makeProgram(
  streams: SafeStreams,
  isJson: boolean,
  setExitCode: (code: ExitCode) => void,
): Command {
  const program = new Command('upwave')
    .description('Upgrades a fleet of installed data collectors unattended, in waves, canary first')
    .version(readVersion())
    .option('-c, --config <file>', 'the config file', 'upwave.yaml')
    .option('--json', 'print JSON for programs', false)
    .option('--no-color', 'print without colour')
    .showHelpAfterError(isJson ? false : '(upwave --help lists the commands)')
    // Long descriptions wrap in their column, however narrow, on a screen and in a pipe.
    .configureHelp({ showGlobalOptions: true, minWidthToWrap: 20 })
    .configureOutput({
      writeOut: (text) => void streams.stdout.stream.write(text),
      writeErr: (text) => void streams.stderr.stream.write(text),
    })
    .exitOverride();
  if (isJson) {
    program.configureOutput({
      outputError: (text, write) =>
        write(errorJson(exitCodes.usageOrConfig, text.trim().replace(/^error: /, ''))),
    });
  }
  const run = makeCommandRunner({
    globals: () => program.opts<GlobalOptions>(),
    outputFor: ({ color }) => makeConsoleOutput(streams, color),
    onEnd: setExitCode,
  });
  addGroups(program, run);
  refuseEmptyArguments(program);
  refuseEmptyOptions(program);
  completeHelp(program);
  suggestCommands(program);
  return program;
}

/** An empty argument is a shell variable without a value. Without it a verb would choose its rollout itself. */
function refuseEmptyArguments(program: Command): void {
  program.hook('preAction', (_program, command) => {
    const at = command.args.indexOf('');
    if (at < 0) return;
    const name = (command.registeredArguments[at] ?? command.registeredArguments.at(-1))?.name() ?? '';
    command.error(`error: argument '${name}' is empty`, { code: 'commander.invalidArgument' });
  });
}

/** An empty value would choose nothing, or what no operator meant. The value is seen as it was given, before it is parsed. */
function refuseEmptyOptions(command: Command): void {
  for (const option of command.options)
    command.on(`option:${option.name()}`, (value: unknown) => {
      if (value === '')
        command.error(`error: option '${option.flags}' is empty`, { code: 'commander.invalidArgument' });
    });
  for (const child of command.commands) refuseEmptyOptions(child);
}

/** The commands, in the order and under the headings of the help. */
function addGroups(program: Command, run: CommandRunner): void {
  program.commandsGroup('Run:');
  addRunProgram(program, run);
  addServiceProgram(program, run);
  addInitProgram(program, run);
  program.commandsGroup('Show:');
  addStatusProgram(program, run);
  addHistoryProgram(program, run);
  program.commandsGroup('Act (each takes --reason):');
  addVerbsProgram(program, run);
  program.commandsGroup('Before:');
  addPlanProgram(program, run);
  addRehearseProgram(program, run);
  program.commandsGroup('Inventory:');
  addCollectorsProgram(program, run);
  addSourcesProgram(program, run);
  program.commandsGroup('Other:');
  addStateProgram(program, run);
  addNotifyProgram(program, run);
  addCompletionProgram(program, run);
  addHelpProgram(program, run);
}
