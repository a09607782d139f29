import { toPrintable } from '../../base/safe-text.ts';
import { type ConsoleOutput, printJson } from '../shell/console-output.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { makeConsent } from '../shell/operator.ts';
import { findCollector } from './find-collector.ts';
import { type InventoryOptions, withManagement } from './with-management.ts';

/** `upwave collectors delete <id|name>`: one collector, for good, with its sources. */
export async function collectorsDeleteCommand(
  idOrName: string,
  { config, account, json, yes }: InventoryOptions & { readonly yes: boolean },
  output: ConsoleOutput,
): Promise<ExitCode> {
  const ask = makeConsent({ yes, input: process.stdin, output: output.err });
  return withManagement({ config, account, output }, async (desk) => {
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

const namesShownMax = 10;

/** `upwave collectors delete-offline --days N`: begins the deletion of every collector that was away so long. */
export async function collectorsDeleteOfflineCommand(
  { config, account, json, days, yes }: InventoryOptions & { readonly days: number; readonly yes: boolean },
  output: ConsoleOutput,
): Promise<ExitCode> {
  const ask = makeConsent({ yes, input: process.stdin, output: output.err });
  return withManagement({ config, account, output }, async ({ management, stop, orFail }) => {
    const offline = orFail(await management.collectors.listOffline(days, stop));
    if (offline.length === 0) {
      if (json) printJson(output, { matching: 0, message: null });
      else output.out.write(`no collector was away for ${days} days\n`);
      return exitCodes.done;
    }
    if (!(await ask(question(offline, days), stop))) {
      output.err.write('nothing deleted\n');
      return exitCodes.finishedWithFailures;
    }
    const message = orFail(await management.collectors.deleteOffline(days, stop)) ?? null;
    if (json) printJson(output, { matching: offline.length, message });
    else {
      const said = message === null ? '' : `; the service answers: ${toPrintable(wordsOf(message))}`;
      output.out.write(`deletion of ${offline.length} collectors started${said}\n`);
    }
    return exitCodes.done;
  });
}

function question(offline: ReadonlyArray<{ readonly name: string }>, days: number): string {
  const names = offline.slice(0, namesShownMax).map(({ name }) => toPrintable(name));
  const more = offline.length > names.length ? ', …' : '';
  return `delete ${offline.length} collectors that were away for ${days} days (${names.join(', ')}${more})?`;
}

/** Its shape is not documented (collector-api.md §4.1). */
function wordsOf(message: unknown): string {
  if (typeof message === 'string') return message;
  const inner =
    message !== null && typeof message === 'object' && 'message' in message ? message.message : undefined;
  return typeof inner === 'string' ? inner : JSON.stringify(message);
}
