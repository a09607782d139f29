import type { Command } from 'commander';
import { type CommandRunner, UsageFailure } from '../shell/command.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import type { ExitCode } from '../shell/exit-codes.ts';
import { endAtHangUp } from '../shell/hang-up.ts';
import { fleetSize, positiveNumber, wholeNumber } from '../shell/option-values.ts';
import type { RunOnceOptions } from './run-once.ts';

/** Adds `upwave run`. */
export function addRunProgram(program: Command, run: CommandRunner): void {
  program
    .command('run')
    .description('the daemon: scans at start and on schedule; with --once, runs every policy now and ends')
    .option(
      '--once',
      'start every policy now, show progress, end when each rollout has ended, is held, or waits for approval or a window',
      false,
    )
    .option('--wait', 'with --once: stay while a window is closed', false)
    .option('--redis <url>', 'a Redis other than that of the config, or `embedded` to start one')
    .option('--log-file <file>', 'with --once: where the log goes')
    .action(run(async () => runOrRunOnce));
}

interface RunOptions extends RunOnceOptions {
  readonly once: boolean;
}

async function runOrRunOnce(options: RunOptions, output: ConsoleOutput): Promise<ExitCode> {
  if (options.once) {
    endAtHangUp();
    return (await import('./run-once.ts')).runOnceCommand(options, output);
  }
  refuseForDaemon(options);
  return (await import('./run-command.ts')).runCommand(options, output);
}

/** Options that would otherwise be ignored silently, and seem to be in force. */
function refuseForDaemon({ wait, logFile }: RunOptions): void {
  const words = wait
    ? '--wait is for `run --once`; `run` waits for windows anyway'
    : logFile === undefined
      ? undefined
      : '--log-file is for `run --once`; `run` logs to stdout: `run >> FILE`';
  if (words !== undefined) throw new UsageFailure(words);
}

/** Adds `upwave service` and `upwave demo`, which simulate the service. */
export function addServiceProgram(program: Command, run: CommandRunner): void {
  program
    .command('service')
    .description('the reference service: the Collector Management API with a simulated fleet')
    .option('--host <host>', 'the address to listen on', '127.0.0.1')
    .option('--port <port>', 'the port to listen on; 0 takes a free one', wholeNumber, 8080)
    .option('--fleet <size>', 'how many collectors', fleetSize)
    .option('--fleet-from <file>', 'the collectors from this file, as `collectors list --json` writes it')
    .option('--seed <text>', 'draws another fleet; the same text gives the same one')
    .option('--access-id <id>', 'the access id it accepts (or UPWAVE_ACCESS_ID)')
    .option('--access-key <key>', 'the access key it accepts (or UPWAVE_ACCESS_KEY)')
    .option('--speed <factor>', 'how many times faster than real time the simulation runs', positiveNumber, 1)
    .option('--scenario <file>', 'fleet, builds, durations and faults')
    .option(
      '--state <file>',
      'a file that keeps fleet, sources, tasks and builds over restarts; created when it is missing',
    )
    .option('--openapi', 'print the OpenAPI document of the API, and exit')
    .action(run(async () => (await import('./service-command.ts')).serviceCommand));
  program
    .command('demo')
    .description('watch a simulated fleet being upgraded: no account, no Redis needed')
    .option('--keep', 'keep the page open after the end, until Ctrl-C', false)
    .action(run(async () => (await import('./demo-command.ts')).demoCommand));
}
