import { Command, CommanderError } from 'commander';
import { toPrintable } from '../base/safe-text.ts';
import { addCollectorsProgram } from './inventory/collectors-program.ts';
import { addSourcesProgram } from './inventory/sources-program.ts';
import { addVerbsProgram } from './rollouts/verbs-program.ts';
import type { ServiceOptions } from './run/service-command.ts';
import type { CommandRunner, GlobalOptions } from './shell/command.ts';
import { CommandFailure } from './shell/command.ts';
import {
  makeConsoleOutput,
  makeSafeStreams,
  type ProgramStreams,
  type SafeStreams,
} from './shell/console-output.ts';
import { type ExitCode, exitCodes } from './shell/exit-codes.ts';
import { positiveNumber, wholeNumber } from './shell/option-values.ts';
import { suggestHarmlessCommands } from './shell/suggest-command.ts';
import { readVersion } from './shell/version.ts';
import { addStateProgram } from './state/state-program.ts';

/** Runs the command line. A failure a person can mend is one line; anything else is a bug, and shows its stack. */
export async function runProgram(argv: readonly string[], raw: ProgramStreams = process): Promise<ExitCode> {
  const streams = makeSafeStreams(raw);
  let exitCode: ExitCode = exitCodes.done;
  const program = makeProgram(streams, wantsJson(argv), (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...argv]);
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? exitCodes.done : exitCodes.usageOrConfig;
    if (!(error instanceof CommandFailure)) throw error;
    const isJson = wantsJson(argv);
    const { stream } = streams.stderr;
    stream.write(isJson ? errorJson(error.exitCode, error.message) : `upwave: ${error.message}\n`);
    return error.exitCode;
  }
}

/** Known before the command line is understood: what is wrong with it is told as JSON, too. */
function wantsJson(argv: readonly string[]): boolean {
  return argv.includes('--json');
}

function errorJson(exitCode: ExitCode, message: string): string {
  return `${toPrintable(JSON.stringify({ error: { exitCode, message } }))}\n`;
}

/** Left out of account in silence, they would seem to be in force. */
function refuseForDaemon({ wait, logFile }: { readonly wait: boolean; readonly logFile?: string }): void {
  const words = wait
    ? '--wait is for `run --once`; `run` waits for windows anyway'
    : logFile === undefined
      ? undefined
      : '--log-file is for `run --once`; `run` logs to stdout: `run >> FILE`';
  if (words !== undefined) throw new CommandFailure(exitCodes.usageOrConfig, words);
}

// A command is loaded only when it is asked for: what it needs (zod, undici, BullMQ, ioredis, fastify) would make every
// other one wait, and a usage error, too.
function makeProgram(streams: SafeStreams, isJson: boolean, setExitCode: (code: ExitCode) => void): Command {
  const program = new Command('upwave')
    .description('Upgrades a fleet of installed data collectors unattended, in waves, canary first')
    .version(readVersion())
    .option('-c, --config <file>', 'the config file', 'upwave.yaml')
    .option('--json', 'print JSON for programs', false)
    .option('--no-color', 'print without colour')
    .showHelpAfterError(isJson ? false : '(upwave --help lists the commands)')
    .configureHelp({ showGlobalOptions: true })
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
  const run: CommandRunner =
    (action) =>
    async (...args) => {
      const globals = program.opts<GlobalOptions>();
      setExitCode(await action(globals, makeConsoleOutput(streams, globals.color), ...args));
    };

  program
    .command('run')
    .description('the daemon: scans at start and on schedule; with --once, runs every policy now and ends')
    .option(
      '--once',
      'start every policy now, show progress, end when each rollout has ended, is held, or waits for approval or a window',
      false,
    )
    .option('--wait', 'with --once: stay while a window is closed', false)
    .option('--redis <url>', 'another Redis than the config names, or `embedded` for one of its own')
    .option('--log-file <file>', 'with --once: where the log goes')
    .action(
      run(
        async (
          { config, json },
          output,
          { once, ...options }: { once: boolean; wait: boolean; redis?: string; logFile?: string },
        ) => {
          if (!once) {
            refuseForDaemon(options);
            return (await import('./run/run-command.ts')).runCommand({ config, ...options });
          }
          return (await import('./run/run-once.ts')).runOnceCommand({ config, json, ...options }, output);
        },
      ),
    );
  program
    .command('plan')
    .argument('[policy]', 'only this one')
    .description(
      'what a rollout would do now: waves, who is left out and why, time and requests; writes nothing',
    )
    .option('--members', 'name every collector', false)
    .action(
      run(async ({ config, json }, output, policy: string | undefined, { members }: { members: boolean }) =>
        (await import('./plan/plan-command.ts')).planCommand(policy, { config, json, members }, output),
      ),
    );
  addVerbsProgram(program, run);
  addCollectorsProgram(program, run);
  addSourcesProgram(program, run);
  addStateProgram(program, run);
  program
    .command('config')
    .description('about the config file')
    .command('check')
    .description('find every mistake in it, each with its line')
    .option(
      '--fleet',
      'also read the inventory: which policy matches nothing, and which two claim the same collectors',
      false,
    )
    .option('--print', 'show the whole config as it is understood: defaults filled in, secrets masked', false)
    .action(
      run(async ({ config, json }, output, options: { fleet: boolean; print: boolean }) =>
        (await import('./plan/config-check-command.ts')).configCheckCommand(
          { config, json, ...options },
          output,
        ),
      ),
    );
  program
    .command('service')
    .description('the reference service: the Collector Management API with a simulated fleet')
    .option('--host <host>', 'where to listen', '127.0.0.1')
    .option('--port <port>', 'where to listen; 0 takes a free one', wholeNumber, 8080)
    .option('--fleet <size>', 'how many collectors', wholeNumber)
    .option('--access-id <id>', 'the access id it accepts (or UPWAVE_ACCESS_ID)')
    .option('--access-key <key>', 'the access key it accepts (or UPWAVE_ACCESS_KEY)')
    .option('--speed <factor>', 'how much faster than real time it lives', positiveNumber, 1)
    .option('--scenario <file>', 'fleet, builds, durations and faults')
    .option(
      '--state <file>',
      'keeps fleet, sources, tasks and builds over restarts; made when it is not there',
    )
    .option('--openapi', 'print the OpenAPI document of the API, and end')
    .action(
      run(async (_globals, output, options: ServiceOptions) =>
        (await import('./run/service-command.ts')).serviceCommand(options, output),
      ),
    );
  program
    .command('demo')
    .description('watch a simulated fleet being upgraded: no account, no Redis needed')
    .action(run(async (_globals, output) => (await import('./run/demo-command.ts')).demoCommand(output)));
  suggestHarmlessCommands(program);
  return program;
}
