import { restoreBackup } from '../../redis/backup/restore-backup.ts';
import { CommandFailure } from '../shell/command.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { printJson } from '../shell/console-output.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { checkBackupFile, readBackupParts } from './backup-file.ts';
import { type StateTarget, withKeptState } from './with-kept-state.ts';

export interface RestoreOptions extends StateTarget {
  /** What is there may be replaced. */
  readonly yes: boolean;
  readonly json: boolean;
}

/** `upwave restore FILE`: puts a backup into Redis, while no daemon runs. A file that is not whole changes nothing. */
export async function restoreCommand(
  file: string,
  options: RestoreOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  return withKeptState(options, async ({ connection, keyPrefix, place }) => {
    const { takenAt } = await checkBackupFile(file, keyPrefix);
    const backup = { readParts: () => readBackupParts(file), replaces: options.yes, now: Date.now() };
    const result = await restoreBackup({ connection, keyPrefix }, backup);
    if (result.kind === 'led') {
      const message = `a daemon works with ${place}; stop all of them first`;
      throw new CommandFailure(exitCodes.heldOrNeedsAPerson, message);
    }
    if (result.kind === 'cutOff') {
      const message = `the lead at ${place} was lost meanwhile, to a daemon or because this process stood still, and nothing starts there now; stop all daemons, and restore again with --yes`;
      throw new CommandFailure(exitCodes.heldOrNeedsAPerson, message);
    }
    if (result.kind === 'occupied') {
      const message =
        result.cutOffAt === null
          ? `${place} holds state of ${keyPrefix} already (${result.keys} keys); --yes replaces it`
          : `${place} holds what a restore that was cut off, begun at ${result.cutOffAt}, left behind; --yes replaces it`;
      throw new CommandFailure(exitCodes.usageOrConfig, message);
    }
    const { rollouts, keys } = result;
    if (options.json) printJson(output, { file, takenAt: Date.parse(takenAt), rollouts, keys });
    else output.out.write(`${place}: ${rollouts} rollouts in ${keys} keys, as they were at ${takenAt}\n`);
    return exitCodes.done;
  });
}
