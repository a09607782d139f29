import { toPrintable } from '../../base/safe-text.ts';
import { quoteArgument } from '../../rollout/status/command-for.ts';
import type { Settlement } from '../../rollout/upgrade/repair-upgrade.ts';
import { CommandFailure } from '../shell/command.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { printJson } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { makeConsent, operatorName } from '../shell/operator.ts';
import { stopSignal } from '../shell/stop-signal.ts';
import { chooseRollout, listRollouts } from './choose-rollout.ts';
import { renderStatus } from './render-status.ts';

export interface RepairOptions extends DaemonTarget {
  readonly reason?: string;
  readonly watch: boolean;
  readonly withdraw: boolean;
  /** Asked and answered. */
  readonly yes: boolean;
  readonly json: boolean;
}

/** `upwave repair <rollout> [collector]`: shows the rollout, asks, and settles its corrupt records. */
export async function repairCommand(
  named: string,
  collectorId: number | undefined,
  options: RepairOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const settlement = settlementOf(options);
  const status = await withDaemon(options, async (client) => {
    const chosen = chooseRollout(await listRollouts(client, named), named, 'look');
    const of = `${quoteArgument(chosen.id)}${collectorId === undefined ? '' : ` ${collectorId}`}`;
    output.err.write(`${renderStatus(chosen, Date.now(), output)}\n`);
    const question = questionOf(chosen.id, collectorId, settlement);
    const refusal = `${question}\n  To confirm it, run: upwave repair ${of} --${settlement} --yes`;
    const ask = makeConsent({ yes: options.yes, input: process.stdin, output: output.err, refusal });
    if (!(await ask(question, stopSignal()))) return null;
    const words = { by: operatorName(), reason: options.reason ?? '' };
    const request = { rolloutId: chosen.id, settlement, ...words };
    return client.repair(collectorId === undefined ? request : { ...request, collectorId });
  });
  if (status === null) return exitCodes.finishedWithFailures;
  if (options.json) printJson(output, status);
  else output.out.write(`${renderStatus(status, Date.now(), output)}\n`);
  return exitCodes.done;
}

/** @throws CommandFailure where it is not said, or both are */
function settlementOf({ watch, withdraw }: RepairOptions): Settlement {
  if (watch !== withdraw) return watch ? 'watch' : 'withdraw';
  const words = 'add --watch (upgrades may run) or --withdraw (nothing of them runs)';
  throw new CommandFailure(exitCodes.usageOrConfig, words);
}

function questionOf(rolloutId: string, collectorId: number | undefined, settlement: Settlement): string {
  const what =
    collectorId === undefined
      ? `all corrupt records of ${rolloutId}`
      : `the record of collector ${collectorId} in ${rolloutId}`;
  const how =
    settlement === 'watch'
      ? 'upgrades that may run are watched to their deadline'
      : 'their slots are free at once, so be sure that nothing of them runs';
  return toPrintable(`Repair ${what} (${how})?`);
}
