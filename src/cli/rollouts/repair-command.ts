import { toPrintable } from '../../base/safe-text.ts';
import type { RepairPreviewBody } from '../../contract/admin/verbs.ts';
import { counted } from '../../rollout/messages/sentences.ts';
import { quoteArgument } from '../../rollout/status/command-for.ts';
import type { Settlement } from '../../rollout/upgrade/repair-upgrade.ts';
import { UsageFailure } from '../shell/command.ts';
import { type ConsoleOutput, printAnswer } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import type { ExitCode } from '../shell/exit-codes.ts';
import { confirm, operatorName } from '../shell/operator.ts';
import { findRollout } from './choose-rollout.ts';
import { renderStatus } from './render-status.ts';

export interface RepairOptions extends DaemonTarget {
  readonly reason?: string;
  readonly watch: boolean;
  readonly withdraw: boolean;
  /** Do not ask. */
  readonly yes: boolean;
}

/** `upwave repair <rollout> [collector]`: finds corrupt records, shows what it would do with them, asks, and settles them. */
export async function repairCommand(
  named: string,
  collectorId: number | undefined,
  options: RepairOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const { watch, withdraw } = options;
  if (watch && withdraw) throw new UsageFailure('--watch and --withdraw exclude each other');
  const status = await withDaemon(options, async (client) => {
    const { id: rolloutId } = await findRollout(client, named, 'read');
    const of = collectorId === undefined ? { rolloutId } : { rolloutId, collectorId };
    const preview = await client.previewRepair(of);
    const command = [
      'upwave repair',
      quoteArgument(rolloutId),
      ...(collectorId === undefined ? [] : [collectorId]),
    ];
    output.err.write(`${renderFound(preview)}\n`);
    if (!watch && !withdraw) {
      const [watched, withdrawn] = (['watch', 'withdraw'] as const).map((each) => effectOf(preview, each));
      throw new UsageFailure(
        `nothing has changed; add one of:\n  --watch     ${watched}\n  --withdraw  ${withdrawn}\n  such as: ${command.join(' ')} --watch`,
      );
    }
    const settlement: Settlement = watch ? 'watch' : 'withdraw';
    const question = `Repair: ${effectOf(preview, settlement)}. Do it?`;
    await confirm(question, `${command.join(' ')} --${settlement} --yes`, {
      yes: options.yes,
      output: output.err,
    });
    return client.repair({ ...of, settlement, by: operatorName(), reason: options.reason ?? '' });
  });
  return printAnswer(output, options, status, () => renderStatus(status, Date.now(), output));
}

/** The corrupt records, with what is known about each upgrade. */
export function renderFound({ rollout, ownRecord, upgrades }: RepairPreviewBody): string {
  const idWidth = Math.max(0, ...upgrades.map(({ collectorId }) => String(collectorId).length));
  return [
    `${rollout} has ${counted(upgrades.length + (ownRecord ? 1 : 0), 'corrupt record')}:`,
    ...(ownRecord ? ['  its own record'] : []),
    ...upgrades
      .slice(0, shownMax)
      .map(
        ({ collectorId, collectorName, mayRun }) =>
          `  ${String(collectorId).padStart(idWidth)}  ${collectorName}  ${mayRun ? 'may be running' : 'has not started'}`,
      ),
    ...(upgrades.length > shownMax ? [`  … and ${upgrades.length - shownMax} more`] : []),
  ]
    .map(toPrintable)
    .join('\n');
}

const shownMax = 20;

/** What a repair does to these records. */
export function effectOf({ ownRecord, upgrades }: RepairPreviewBody, settlement: Settlement): string {
  const running = upgrades.filter(({ mayRun }) => mayRun).length;
  const watched = settlement === 'watch' ? running : 0;
  const withdrawn = upgrades.length - watched;
  const freed =
    settlement === 'withdraw' && running > 0
      ? ', even while a task is running: the slots are free at once'
      : '';
  return [
    ...(ownRecord ? ['the rollout ends as aborted'] : []),
    ...(watched === 0 ? [] : [`${counted(watched, 'upgrade')} watched to the deadline`]),
    ...(withdrawn === 0 ? [] : [`${counted(withdrawn, 'upgrade')} withdrawn${freed}`]),
  ].join('; ');
}
