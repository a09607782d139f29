import { toPrintable } from '../../base/safe-text.ts';
import type { EpochMs } from '../../base/time.ts';
import type { UpgradeBody } from '../../contract/admin/rollout-status.ts';
import { stateText } from '../../rollout/messages/sentences.ts';
import type { UpgradeState } from '../../rollout/model/upgrade.ts';
import { findRollout } from '../rollouts/choose-rollout.ts';
import { widest } from '../rollouts/fit-lines.ts';
import { readUpgrades } from '../rollouts/read-upgrades.ts';
import { UsageFailure } from '../shell/command.ts';
import { type ConsoleOutput, printAnswer } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import type { ExitCode } from '../shell/exit-codes.ts';
import { showZoned } from '../shell/show-instant.ts';

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

/** One line for each collector: name, id, wave, state, when it ended or is due, and why. */
export function renderUpgrades(
  collectors: readonly UpgradeBody[],
  now: EpochMs,
  { paint }: Pick<ConsoleOutput, 'paint'>,
): string {
  if (collectors.length === 0) return 'no collector matches';
  const names = collectors.map(({ collectorName }) => toPrintable(collectorName));
  const waves = collectors.map(({ wave }) => toPrintable(wave));
  const nameWidth = Math.min(nameMax, widest(names));
  const idWidth = widest(collectors.map(({ collectorId }) => String(collectorId)));
  const waveWidth = widest(waves);
  const stateWidth = widest(collectors.map(({ state }) => stateText(state)));
  return collectors
    .map(({ collectorId, state, endedAt, startedAt, reason, failureClass }, index) => {
      const at = endedAt ?? startedAt;
      const cells = [
        (names[index] ?? '').padEnd(nameWidth),
        String(collectorId).padStart(idWidth),
        (waves[index] ?? '').padEnd(waveWidth),
        stateText(state).padEnd(stateWidth),
        ...(at === null ? [] : [showZoned(at, now)]),
        toPrintable(reason ?? ''),
      ];
      const line = cells.join('  ').trimEnd();
      return failureClass === null ? line : paint('red', line);
    })
    .join('\n');
}

const nameMax = 40;
