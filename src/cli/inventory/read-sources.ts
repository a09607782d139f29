import { sourceNameOf } from '../../contract/collector-management/sources.ts';
import { type ConsoleOutput, printJson } from '../shell/console-output.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { renderTable } from '../shell/render-table.ts';
import { findCollector, findSource } from './find-collector.ts';
import { renderFields } from './render-fields.ts';
import { type InventoryOptions, withManagement } from './with-management.ts';

/** `upwave sources list <collector>`: every source of a collector. */
export async function sourcesListCommand(
  collectorIdOrName: string,
  { config, account, json }: InventoryOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const sources = await withManagement({ config, account, output }, async (desk) => {
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

/** `upwave sources show <collector> <source>`: every field of one source. */
export async function sourcesShowCommand(
  inCollector: string,
  named: string,
  { config, account, json }: InventoryOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const source = await withManagement({ config, account, output }, async (desk) =>
    findSource(desk, await findCollector(desk, inCollector), named),
  );
  if (json) printJson(output, { source });
  else output.out.write(`${renderFields(source)}\n`);
  return exitCodes.done;
}

/** `upwave sources export <collector> [source]`: the document that can register a new collector, or one source of it. */
export async function sourcesExportCommand(
  inCollector: string,
  named: string | undefined,
  { config, account }: InventoryOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const document = await withManagement({ config, account, output }, async (desk) => {
    const { sources } = desk.management;
    const collector = await findCollector(desk, inCollector);
    if (named === undefined) return desk.orFail(await sources.downloadAll(collector.id, desk.stop));
    const { id } = await findSource(desk, collector, named);
    return desk.orFail(await sources.download({ collectorId: collector.id, sourceId: id }, desk.stop));
  });
  printJson(output, document);
  return exitCodes.done;
}
