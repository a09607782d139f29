import { compareBuildVersions } from '../../base/build-version.ts';
import { UsageFailure } from '../shell/command.ts';
import { type ConsoleOutput, printAnswer } from '../shell/console-output.ts';
import type { ExitCode } from '../shell/exit-codes.ts';
import { renderTable } from '../shell/render-table.ts';
import { buildHistoryCommand } from './build-history-command.ts';
import { type InventoryOptions, withManagement } from './with-management.ts';

interface BuildsOptions extends InventoryOptions {
  /** Shows what builds did, as the daemon has recorded it. */
  readonly history: boolean;
  readonly url?: string;
}

/** `upwave builds`: the builds that the service offers, highest version first; the latest need not be the highest. */
export async function buildsCommand(options: BuildsOptions, output: ConsoleOutput): Promise<ExitCode> {
  if (options.history) return buildHistoryCommand(options, output);
  if (options.url !== undefined)
    throw new UsageFailure('--url needs --history; without it, the service is asked');
  const targets = await withManagement(options, output, async ({ management, stop, orFail }) =>
    orFail(await management.upgrades.listTargets(stop)),
  );
  const builds = targets
    .map(({ version, latest }) => ({ version, latest: latest === true }))
    .sort((a, b) => compareBuildVersions(b.version, a.version) ?? 0);
  const rows = builds.map(({ version, latest }) => [version, latest ? 'yes' : '']);
  return printAnswer(output, options, { builds }, () =>
    builds.length === 0 ? 'no build' : renderTable(['version', 'latest'], rows),
  );
}
