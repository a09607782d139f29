import { toPrintable } from '../../base/safe-text.ts';
import { accountConfigsOf, accountKeyPrefix } from '../../config/account-configs.ts';
import { exportRollout } from '../../redis/rollout-store/export-rollout.ts';
import { makeRedisRolloutStore } from '../../redis/rollout-store/rollout-store.ts';
import { makeBrokenRecords, recordVersion } from '../../redis/schema/unreadable-records.ts';
import { isRolloutId } from '../../rollout/model/rollout-id.ts';
import { UsageFailure } from '../shell/command.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { writeLines, writeLinesToFile } from '../shell/write-lines.ts';
import { type KeptState, type StateTarget, withKeptState } from './with-kept-state.ts';

export interface ExportOptions extends StateTarget {
  /** The file to write; default: stdout. */
  readonly out?: string;
}

/**
 * `upwave export <rollout>`: writes its whole record as JSON lines. It reads Redis and not a daemon: the record has more than
 * the API shows, the export must not slow a daemon down, and often no daemon is running after the end of a rollout.
 */
export async function exportCommand(
  named: string,
  options: ExportOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  await withKeptState(options, async (state) => {
    const lines = encode(await chooseKept(state, named));
    if (options.out === undefined) await writeLines(output.out, lines);
    else await writeLinesToFile(options.out, lines, { reader: 'owner', err: output.err });
  });
  return exitCodes.done;
}

interface Kept extends Pick<KeptState, 'connection' | 'keyPrefix'> {
  readonly rolloutId: string;
}

/** Finds a rollout by its id, or the newest of a policy, in any account. */
async function chooseKept({ config, connection, keyPrefix }: KeptState, named: string): Promise<Kept> {
  const newest: string[] = [];
  for (const account of accountConfigsOf(config)) {
    const prefix = accountKeyPrefix(account, keyPrefix);
    const store = makeRedisRolloutStore({
      commands: connection.commands,
      keyPrefix: prefix,
      historyMs: account.historyMs,
      broken: makeBrokenRecords(() => undefined),
      version: recordVersion,
      policies: () => account.rollouts,
    });
    const kept = await store.listRollouts(account.rollouts.map(({ name }) => name));
    const chosen = kept.find(({ id, policy }) => id === named || policy.name === named)?.id;
    // The policy of the rollout may no longer be in the config.
    const isLeft = isRolloutId(named) && (await store.loadRollout(named)) !== undefined;
    const rolloutId = chosen ?? (isLeft ? named : undefined);
    if (rolloutId !== undefined) return { connection, keyPrefix: prefix, rolloutId };
    newest.push(...kept.slice(0, namesShown).map(({ id }) => id));
  }
  const choice = newest.length === 0 ? 'Redis keeps none' : `the newest are ${newest.join(', ')}`;
  const message = `there is no rollout or policy ${named}; ${choice}`;
  throw new UsageFailure(toPrintable(message));
}

const namesShown = 5;

async function* encode({ connection, keyPrefix, rolloutId }: Kept): AsyncGenerator<string> {
  const lines = exportRollout({ commands: connection.commands, keyPrefix }, rolloutId);
  // Escaped as in `printJson`: names of collectors come from machines.
  for await (const line of lines) yield toPrintable(JSON.stringify(line));
}
