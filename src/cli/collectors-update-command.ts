import { Collector } from '../contract/collector.ts';
import { collectorAccess } from '../contract/collector-access.ts';
import { CommandFailure } from './command-failure.ts';
import type { GlobalOptions } from './command-runner.ts';
import type { ConsoleOutput } from './console-output.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { findCollector } from './find-collector.ts';
import { reportChange, reportConflict } from './report-change.ts';
import { combineFields, readStatedFields, type StatedFields } from './stated-fields.ts';
import { withManagement } from './with-management.ts';

/** `upwave collectors update <id|name>`: sets the fields that are named, and leaves the rest as they are. */
export async function collectorsUpdateCommand(
  idOrName: string,
  { config, json }: GlobalOptions,
  stated: StatedFields,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const [file = {}, ...others] = readStatedFields(stated, 'collector');
  if (others.length > 0) throw new CommandFailure(exitCodes.usageOrConfig, 'one collector at a time');
  const transientFields = collectorAccess.transient;
  const changed = await withManagement({ config, output }, async (desk) => {
    const { id } = await findCollector(desk, idOrName);
    return desk.orFail(
      await desk.management.collectors.change(
        id,
        (current) => combineFields({ current, file, set: stated.set }, Collector.shape),
        {
          signal: desk.stop,
          onConflict: (conflict) => reportConflict(conflict, transientFields, output),
        },
      ),
    );
  });
  reportChange(changed, { kind: 'collector', json, transientFields }, output);
  return exitCodes.done;
}
