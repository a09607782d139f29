import { toPrintable } from '../base/printable.ts';
import { sourceNameOf } from '../contract/source.ts';
import type { GlobalOptions } from './command-runner.ts';
import { makeConsent } from './consent.ts';
import type { ConsoleOutput } from './console-output.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { findCollector, findSource, sourceLabel } from './find-collector.ts';
import { printJson } from './print-json.ts';
import { withManagement } from './with-management.ts';

/** `upwave sources delete <collector> <source>`: one source, for good. */
export async function sourcesDeleteCommand(
  named: { readonly collector: string; readonly source: string },
  { config, json }: GlobalOptions,
  { yes }: { readonly yes: boolean },
  output: ConsoleOutput,
): Promise<ExitCode> {
  const ask = makeConsent({ yes, input: process.stdin, output: output.err });
  return withManagement({ config, output }, async (desk) => {
    const collector = await findCollector(desk, named.collector);
    const source = await findSource(desk, collector, named.source);
    const { id } = source;
    const label = `${sourceLabel(source)} of ${toPrintable(`collector ${collector.id} ${collector.name}`)}`;
    if (!(await ask(`delete ${label}?`, desk.stop))) {
      output.err.write('nothing deleted\n');
      return exitCodes.finishedWithFailures;
    }
    const place = { collectorId: collector.id, sourceId: id };
    desk.orFail(await desk.management.sources.delete(place, desk.stop));
    if (json) printJson(output, { deleted: { id, name: sourceNameOf(source), collectorId: collector.id } });
    else output.out.write(`deleted ${label}\n`);
    return exitCodes.done;
  });
}
