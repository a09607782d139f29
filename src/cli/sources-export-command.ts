import type { GlobalOptions } from './command-runner.ts';
import type { ConsoleOutput } from './console-output.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { findCollector, findSource } from './find-collector.ts';
import { printJson } from './print-json.ts';
import { withManagement } from './with-management.ts';

/** `upwave sources export <collector> [source]`: the document that can register a new collector, or one source of it. */
export async function sourcesExportCommand(
  named: { readonly collector: string; readonly source: string | undefined },
  { config }: GlobalOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const document = await withManagement({ config, output }, async (desk) => {
    const { sources } = desk.management;
    const collector = await findCollector(desk, named.collector);
    if (named.source === undefined) return desk.orFail(await sources.downloadAll(collector.id, desk.stop));
    const { id } = await findSource(desk, collector, named.source);
    return desk.orFail(await sources.download({ collectorId: collector.id, sourceId: id }, desk.stop));
  });
  printJson(output, document);
  return exitCodes.done;
}
