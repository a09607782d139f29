import { compareBuildVersions } from '../../base/build-version.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { printJson } from '../shell/console-output.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { renderTable } from '../shell/render-table.ts';
import { type InventoryOptions, withManagement } from './with-management.ts';

/** `upwave builds`: the builds that the service offers, highest version first; the latest need not be the highest. */
export async function buildsCommand(
  { config, account, json }: InventoryOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const targets = await withManagement({ config, account, output }, async ({ management, stop, orFail }) =>
    orFail(await management.upgrades.listTargets(stop)),
  );
  const builds = targets
    .map(({ version, latest }) => ({ version, latest: latest === true }))
    .sort((a, b) => compareBuildVersions(b.version, a.version) ?? 0);
  if (json) printJson(output, { builds });
  else if (builds.length === 0) output.out.write('no build\n');
  else {
    const rows = builds.map(({ version, latest }) => [version, latest ? 'yes' : '']);
    output.out.write(`${renderTable(['version', 'latest'], rows)}\n`);
  }
  return exitCodes.done;
}
