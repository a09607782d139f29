import { toPrintable } from '../../base/safe-text.ts';
import { Collector } from '../../contract/collector-management/collectors.ts';
import { UsageFailure } from '../shell/command.ts';
import { type ConsoleOutput, printAnswer } from '../shell/console-output.ts';
import type { ExitCode } from '../shell/exit-codes.ts';
import { findCollector } from './find-resource.ts';
import { reportChange, reportConflict } from './report-change.ts';
import { combineFields, readOneStatement, type StatedFields } from './stated-fields.ts';
import { type InventoryOptions, withManagement } from './with-management.ts';

/** `upwave collectors create`: a hosted collector; installed ones register themselves (collector-api.md §1). */
export async function collectorsCreateCommand(
  options: InventoryOptions & StatedFields,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const file = readOneStatement(options, 'new collector');
  const draft = combineFields({ current: {}, file, set: options.set }, Collector.shape);
  const { name } = draft;
  if (typeof name !== 'string' || name === '') {
    throw new UsageFailure('a collector needs a name: --set name=…');
  }
  const collector = await withManagement(options, output, async ({ management, stop, orFail }) =>
    orFail(await management.collectors.create({ ...draft, name }, stop)),
  );
  return printAnswer(
    output,
    options,
    { collector },
    () => `created collector ${collector.id} ${toPrintable(collector.name)}`,
  );
}

/** `upwave collectors update <id|name>`: sets the named fields, and leaves the others as they are. */
export async function collectorsUpdateCommand(
  idOrName: string,
  options: InventoryOptions & StatedFields,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const { json, set } = options;
  const file = readOneStatement(options, 'collector');
  const changed = await withManagement(options, output, async (desk) => {
    const { id } = await findCollector(desk, idOrName);
    return desk.orFail(
      await desk.management.collectors.change(
        id,
        (current) => combineFields({ current, file, set }, Collector.shape),
        {
          signal: desk.stop,
          onConflict: (conflict) => reportConflict(conflict, 'collector', output),
        },
      ),
    );
  });
  return reportChange(changed, { kind: 'collector', json }, output);
}
