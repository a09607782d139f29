import { toPrintable } from '../../base/safe-text.ts';
import type { EpochMs } from '../../base/time.ts';
import type { UpgradeBody } from '../../contract/admin/rollout-status.ts';
import { stateText } from '../../rollout/messages/sentences.ts';
import type { UpgradeState } from '../../rollout/model/upgrade.ts';
import { findRollout } from '../rollouts/choose-rollout.ts';
import { fitLines, widest } from '../rollouts/fit-lines.ts';
import { readUpgrades } from '../rollouts/read-upgrades.ts';
import { UsageFailure } from '../shell/command.ts';
import { type ConsoleOutput, printAnswer } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import type { ExitCode } from '../shell/exit-codes.ts';
import { showMinute } from '../shell/show-instant.ts';

export interface UpgradesOptions extends DaemonTarget {
  readonly state?: readonly UpgradeState[];
  readonly stratum?: string;
  readonly cause?: string;
  readonly match?: string;
  readonly with?: string;
  readonly wave?: string;
  readonly limit: number;
}

/** `upwave upgrades [rollout]`: lists its collectors that match the filters. */
export async function upgradesCommand(
  named: string | undefined,
  options: UpgradesOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const found = await withDaemon(options, async (client) => {
    const { id, waves } = await findRollout(client, named, 'read');
    if (options.wave !== undefined && !waves.some(({ name }) => name === options.wave)) {
      const names = waves.map(({ name }) => name).join(', ');
      throw new UsageFailure(`${id} has no wave ${options.wave}; it has ${names}`);
    }
    const { state, stratum, cause, match, with: attributes, wave, limit } = options;
    const search = { state: state && [...state], stratum, cause, match, attributes, wave, limit };
    return { rollout: id, ...(await readUpgrades(client, id, search)) };
  });
  const { collectors, total, more } = found;
  const exitCode = printAnswer(output, options, found, () => renderUpgrades(collectors, Date.now(), output));
  if (more && !options.json) {
    const ofTotal = total === null ? '' : ` of ${total}`;
    output.err.write(`shown: the first ${collectors.length}${ofTotal}; --limit shows more\n`);
  }
  return exitCode;
}

const headings = ['collector', 'id', 'wave', 'state', 'time'];
const nameMax = 40;
// A reason in a narrower column is hard to read, so it stands below the other cells.
const reasonColumnsMin = 20;

/** A row for each collector below the headings: name, id, wave, state, when it ended or started, and why. */
export function renderUpgrades(
  collectors: readonly UpgradeBody[],
  now: EpochMs,
  { paint, columns: width }: Pick<ConsoleOutput, 'paint' | 'columns'>,
): string {
  if (collectors.length === 0) return 'no collector matches';
  const rows = collectors.map((each) => {
    const { collectorName, collectorId, wave, state, reason, failureClass } = each;
    const cells = [collectorName, String(collectorId), wave, stateText(state), timeText(each, now)];
    return { cells: cells.map(toPrintable), reason: reason ?? '', hasFailed: failureClass !== null };
  });
  const table = [{ cells: headings, reason: 'reason', hasFailed: false }, ...rows];
  const widths = headings.map((_, column) => {
    const longest = widest(table.map(({ cells }) => cells[column] ?? ''));
    return column === 0 ? Math.min(nameMax, longest) : longest;
  });
  return table
    .flatMap(({ cells, reason, hasFailed }) => {
      const label = cells.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  ');
      const lines = rowLines(label, reason, width);
      return hasFailed ? lines.map((line) => paint('red', line)) : lines;
    })
    .join('\n');
}

/** When it ended; without an end, when its first attempt started. */
function timeText({ startedAt, endedAt }: UpgradeBody, now: EpochMs): string {
  if (endedAt !== null) return `ended ${showMinute(endedAt, now)}`;
  return startedAt === null ? '' : `started ${showMinute(startedAt, now)}`;
}

function rowLines(label: string, reason: string, width: number | undefined): readonly string[] {
  const labelColumns = label.length + 2;
  if (width === undefined || width - labelColumns >= reasonColumnsMin)
    return fitLines(label, [reason], { width, labelColumns });
  const below = reason === '' ? [] : fitLines('', [reason], { width, labelColumns: 4 });
  return [label.trimEnd(), ...below];
}
