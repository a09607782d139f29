import type { Command } from 'commander';
import { type CommandRunner, UsageFailure } from '../shell/command.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import type { ExitCode } from '../shell/exit-codes.ts';
import { endAtHangUp } from '../shell/hang-up.ts';
import type { RunOnceOptions } from './run-once.ts';
import { addServiceOptions } from './service-options.ts';

/** Adds `upwave run`. */
export function addRunProgram(program: Command, run: CommandRunner): void {
  program
    .command('run')
    .argument('[policy]', 'with --once: only this policy')
    .description(
      'the daemon: scans at start and on schedule; with --once, runs every policy, or one, now and ends',
    )
    .option(
      '--once',
      'start every policy, or the named one, now, show progress, end when each rollout has ended, is held, or waits for approval or a window',
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

async function runOrRunOnce(
  policy: string | undefined,
  options: RunOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  if (options.once) {
    endAtHangUp();
    return (await import('./run-once.ts')).runOnceCommand(policy, options, output);
  }
  refuseForDaemon(policy, options);
  return (await import('./run-command.ts')).runCommand(options, output);
}

/** What would otherwise be ignored silently, and seem to be in force. */
function refuseForDaemon(policy: string | undefined, { wait, logFile }: RunOptions): void {
  if (policy !== undefined)
    throw new UsageFailure(
      `the daemon runs every policy of the config; \`run --once ${policy}\` runs one policy and ends`,
    );
  const words = wait
    ? '--wait is for `run --once`; `run` waits for windows anyway'
    : logFile === undefined
      ? undefined
      : '--log-file is for `run --once`; `run` logs to stdout: `run >> FILE`';
  if (words !== undefined) throw new UsageFailure(words);
}

/** Adds `upwave service` and `upwave demo`, which simulate the service. */
export function addServiceProgram(program: Command, run: CommandRunner): void {
  addServiceOptions(program.command('service'), run);
  program
    .command('demo')
    .description('watch a simulated fleet being upgraded: no account, no Redis needed')
    .option('--keep', 'keep the page open after the end, until Ctrl-C', false)
    .action(run(async () => (await import('./demo-command.ts')).demoCommand));
}
