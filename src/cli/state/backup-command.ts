import { type BackupPart, backupVersion } from '../../redis/backup/backup-lines.ts';
import { takeBackup } from '../../redis/backup/take-backup.ts';
import { readRestoring } from '../../redis/schema/restoring.ts';
import { CommandFailure } from '../shell/command.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { printJson } from '../shell/console-output.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { writeBackupFile } from './backup-file.ts';
import { type StateTarget, withKeptState } from './with-kept-state.ts';

export interface BackupOptions extends StateTarget {
  readonly out: string;
  readonly json: boolean;
}

/** `upwave backup --out FILE`: everything that `restore` needs to go on; daemons may run meanwhile. */
export async function backupCommand(options: BackupOptions, output: ConsoleOutput): Promise<ExitCode> {
  const { out, json } = options;
  const takenAt = new Date().toISOString();
  const keys = new Set<string>();
  const place = await withKeptState(options, async ({ connection, keyPrefix, place: from }) => {
    const restoring = await readRestoring({ commands: connection.commands, keyPrefix });
    if (restoring !== null) {
      const message = `a restore into ${from}, begun at ${restoring}, is under way or was cut off; restore first, then take a backup`;
      throw new CommandFailure(exitCodes.heldOrNeedsAPerson, message);
    }
    const parts = counted(takeBackup({ connection, keyPrefix }), keys);
    const about = { version: backupVersion, keyPrefix, takenAt };
    await writeBackupFile(out, { kind: 'header', format: 'upwave backup', ...about }, parts);
    return from;
  });
  const rollouts = [...keys].filter((key) => key.endsWith(':rollout')).length;
  if (json) printJson(output, { file: out, takenAt: Date.parse(takenAt), rollouts, keys: keys.size });
  else output.out.write(`${out}: ${rollouts} rollouts in ${keys.size} keys of ${place}\n`);
  return exitCodes.done;
}

async function* counted(parts: AsyncIterable<BackupPart>, keys: Set<string>): AsyncGenerator<BackupPart> {
  for await (const part of parts) {
    keys.add(part.key);
    yield part;
  }
}
