import { sourceAccess } from '../contract/collector-access.ts';
import { Source } from '../contract/source.ts';
import { CommandFailure } from './command-failure.ts';
import type { GlobalOptions } from './command-runner.ts';
import type { ConsoleOutput } from './console-output.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { findCollector, findSource } from './find-collector.ts';
import { reportChange, reportConflict } from './report-change.ts';
import { combineFields, readStatedFields, type StatedFields } from './stated-fields.ts';
import { withManagement } from './with-management.ts';

/** `upwave sources update <collector> <source>`: sets the fields that are named, and leaves the rest as they are. */
export async function sourcesUpdateCommand(
  named: { readonly collector: string; readonly source: string },
  { config, json }: GlobalOptions,
  stated: StatedFields,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const [file = {}, ...others] = readStatedFields(stated, 'source');
  if (others.length > 0) throw new CommandFailure(exitCodes.usageOrConfig, 'one source at a time');
  const transientFields = sourceAccess.transient;
  const changed = await withManagement({ config, output }, async (desk) => {
    const collector = await findCollector(desk, named.collector);
    const source = await findSource(desk, collector, named.source);
    return desk.orFail(
      await desk.management.sources.change(
        { collectorId: collector.id, sourceId: source.id },
        (current) => combineFields({ current, file, set: stated.set }, Source.shape),
        {
          signal: desk.stop,
          onConflict: (conflict) => reportConflict(conflict, transientFields, output),
        },
      ),
    );
  });
  reportChange(changed, { kind: 'source', json, transientFields }, output);
  return exitCodes.done;
}
