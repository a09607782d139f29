import { toPrintable } from '../base/printable.ts';
import type { GlobalOptions } from './command-runner.ts';
import { makeConsent } from './consent.ts';
import type { ConsoleOutput } from './console-output.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { findCollector } from './find-collector.ts';
import { printJson } from './print-json.ts';
import { withManagement } from './with-management.ts';

/** `upwave collectors delete <id|name>`: one collector, for good, with its sources. */
export async function collectorsDeleteCommand(
  idOrName: string,
  { config, json }: GlobalOptions,
  { yes }: { readonly yes: boolean },
  output: ConsoleOutput,
): Promise<ExitCode> {
  const ask = makeConsent({ yes, input: process.stdin, output: output.err });
  return withManagement({ config, output }, async (desk) => {
    const { id, name } = await findCollector(desk, idOrName);
    const label = toPrintable(`collector ${id} ${name}`);
    if (!(await ask(`delete ${label} with all its sources?`, desk.stop))) {
      output.err.write('nothing deleted\n');
      return exitCodes.finishedWithFailures;
    }
    desk.orFail(await desk.management.collectors.delete(id, desk.stop));
    if (json) printJson(output, { deleted: { id, name } });
    else output.out.write(`deleted ${label}\n`);
    return exitCodes.done;
  });
}
