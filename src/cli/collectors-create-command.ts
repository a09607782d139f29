import { toPrintable } from '../base/printable.ts';
import { Collector } from '../contract/collector.ts';
import { CommandFailure } from './command-failure.ts';
import type { GlobalOptions } from './command-runner.ts';
import type { ConsoleOutput } from './console-output.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { printJson } from './print-json.ts';
import { combineFields, readStatedFields, type StatedFields } from './stated-fields.ts';
import { withManagement } from './with-management.ts';

/** `upwave collectors create`: a hosted collector; installed ones register themselves (collector-api.md §1). */
export async function collectorsCreateCommand(
  { config, json }: GlobalOptions,
  stated: StatedFields,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const [file = {}, ...others] = readStatedFields(stated, 'new collector');
  if (others.length > 0) throw new CommandFailure(exitCodes.usageOrConfig, 'one collector at a time');
  const draft = combineFields({ current: {}, file, set: stated.set }, Collector.shape);
  const { name } = draft;
  if (typeof name !== 'string' || name === '') {
    throw new CommandFailure(exitCodes.usageOrConfig, 'a collector needs a name: --set name=…');
  }
  const collector = await withManagement({ config, output }, async ({ management, stop, orFail }) =>
    orFail(await management.collectors.create({ ...draft, name }, stop)),
  );
  if (json) printJson(output, { collector });
  else output.out.write(`created collector ${collector.id} ${toPrintable(collector.name)}\n`);
  return exitCodes.done;
}
