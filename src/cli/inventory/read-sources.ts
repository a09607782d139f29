import { sourceNameOf } from '../../contract/collector-management/sources.ts';
import { type ConsoleOutput, printAnswer, printJson } from '../shell/console-output.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { renderTable } from '../shell/render-table.ts';
import { findCollector, findSource } from './find-resource.ts';
import { renderFields } from './render-fields.ts';
import { type InventoryOptions, withManagement } from './with-management.ts';

/** `upwave sources list <collector>`: every source of a collector. */
export async function sourcesListCommand(
  collectorIdOrName: string,
  options: InventoryOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const sources = await withManagement(options, output, async (desk) => {
    const { id } = await findCollector(desk, collectorIdOrName);
    return desk.orFail(await desk.management.sources.list(id, desk.stop));
  });
  const rows = sources.map((source) => [
    String(source.id),
    sourceNameOf(source) ?? '',
    source.sourceType ?? '',
    source.category ?? '',
    source.alive === undefined ? '' : source.alive ? 'yes' : 'no',
  ]);
  return printAnswer(output, options, { sources }, () =>
    rows.length === 0 ? 'no source' : renderTable(['id', 'name', 'type', 'category', 'alive'], rows),
  );
}

/** `upwave sources show <collector> <source>`: every field of one source. */
export async function sourcesShowCommand(
  inCollector: string,
  named: string,
  options: InventoryOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const { source } = await withManagement(options, output, (desk) => findSource(desk, inCollector, named));
  return printAnswer(output, options, { source }, () => renderFields(source));
}

/** `upwave sources export <collector> [source]`: the document that can register a new collector, or one source of it. */
export async function sourcesExportCommand(
  inCollector: string,
  named: string | undefined,
  options: InventoryOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const document = await withManagement(options, output, async (desk) => {
    const { sources } = desk.management;
    if (named !== undefined) {
      const { place } = await findSource(desk, inCollector, named);
      return desk.orFail(await sources.download(place, desk.stop));
    }
    const { id } = await findCollector(desk, inCollector);
    return desk.orFail(await sources.downloadAll(id, desk.stop));
  });
  printJson(output, document);
  return exitCodes.done;
}
