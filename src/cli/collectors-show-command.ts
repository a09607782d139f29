import type { GlobalOptions } from './command-runner.ts';
import type { ConsoleOutput } from './console-output.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { findCollector } from './find-collector.ts';
import { printJson } from './print-json.ts';
import { renderFields } from './render-fields.ts';
import { withManagement } from './with-management.ts';

/** `upwave collectors show <id|name>`: every field of one collector. */
export async function collectorsShowCommand(
  idOrName: string,
  { config, json }: GlobalOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const collector = await withManagement({ config, output }, (desk) => findCollector(desk, idOrName));
  if (json) printJson(output, { collector });
  else output.out.write(`${renderFields(collector)}\n`);
  return exitCodes.done;
}
