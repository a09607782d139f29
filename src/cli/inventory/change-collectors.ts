import { toPrintable } from '../../base/safe-text.ts';
import { Collector } from '../../contract/collector-management/collectors.ts';
import { collectorAccess } from '../../contract/collector-management/field-access.ts';
import { UsageFailure } from '../shell/command.ts';
import { type ConsoleOutput, printJson } from '../shell/console-output.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { findCollector } from './find-collector.ts';
import { reportChange, reportConflict } from './report-change.ts';
import { combineFields, readStatedFields, type StatedFields } from './stated-fields.ts';
import { type InventoryOptions, withManagement } from './with-management.ts';

/** `upwave collectors create`: a hosted collector; installed ones register themselves (collector-api.md §1). */
export async function collectorsCreateCommand(
  { config, account, json, ...stated }: InventoryOptions & StatedFields,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const [file = {}, ...others] = readStatedFields(stated, 'new collector');
  if (others.length > 0) throw new UsageFailure('one collector at a time');
  const draft = combineFields({ current: {}, file, set: stated.set }, Collector.shape);
  const { name } = draft;
  if (typeof name !== 'string' || name === '') {
    throw new UsageFailure('a collector needs a name: --set name=…');
  }
  const collector = await withManagement({ config, account, output }, async ({ management, stop, orFail }) =>
    orFail(await management.collectors.create({ ...draft, name }, stop)),
  );
  if (json) printJson(output, { collector });
  else output.out.write(`created collector ${collector.id} ${toPrintable(collector.name)}\n`);
  return exitCodes.done;
}

/** `upwave collectors update <id|name>`: sets the fields that are named, and leaves the rest as they are. */
export async function collectorsUpdateCommand(
  idOrName: string,
  { config, account, json, ...stated }: InventoryOptions & StatedFields,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const [file = {}, ...others] = readStatedFields(stated, 'collector');
  if (others.length > 0) throw new UsageFailure('one collector at a time');
  const transientFields = collectorAccess.transient;
  const changed = await withManagement({ config, account, output }, async (desk) => {
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
