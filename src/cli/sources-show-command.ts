import type { GlobalOptions } from './command-runner.ts';
import type { ConsoleOutput } from './console-output.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { findCollector, findSource } from './find-collector.ts';
import { printJson } from './print-json.ts';
import { renderFields } from './render-fields.ts';
import { withManagement } from './with-management.ts';

/** `upwave sources show <collector> <source>`: every field of one source. */
export async function sourcesShowCommand(
  named: { readonly collector: string; readonly source: string },
  { config, json }: GlobalOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const source = await withManagement({ config, output }, async (desk) =>
    findSource(desk, await findCollector(desk, named.collector), named.source),
  );
  if (json) printJson(output, { source });
  else output.out.write(`${renderFields(source)}\n`);
  return exitCodes.done;
}
