import { sourceNameOf } from '../contract/source.ts';
import type { GlobalOptions } from './command-runner.ts';
import type { ConsoleOutput } from './console-output.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { findCollector } from './find-collector.ts';
import { printJson } from './print-json.ts';
import { renderTable } from './render-table.ts';
import { withManagement } from './with-management.ts';

/** `upwave sources list <collector>`: every source of a collector. */
export async function sourcesListCommand(
  collectorIdOrName: string,
  { config, json }: GlobalOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const sources = await withManagement({ config, output }, async (desk) => {
    const { id } = await findCollector(desk, collectorIdOrName);
    return desk.orFail(await desk.management.sources.list(id, desk.stop));
  });
  if (json) printJson(output, { sources });
  else if (sources.length === 0) output.out.write('no source\n');
  else {
    const rows = sources.map((source) => [
      String(source.id),
      sourceNameOf(source) ?? '',
      source.sourceType ?? '',
      source.category ?? '',
      source.alive === undefined ? '' : source.alive ? 'yes' : 'no',
    ]);
    output.out.write(`${renderTable(['id', 'name', 'type', 'category', 'alive'], rows)}\n`);
  }
  return exitCodes.done;
}
