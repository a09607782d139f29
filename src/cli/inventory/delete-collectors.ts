import { someNames } from '../../base/names.ts';
import { toPrintable } from '../../base/safe-text.ts';
import { counted } from '../../rollout/messages/sentences.ts';
import { type ConsoleOutput, printAnswer } from '../shell/console-output.ts';
import type { ExitCode } from '../shell/exit-codes.ts';
import { makeConsent } from '../shell/operator.ts';
import { findCollector } from './find-resource.ts';
import { type InventoryOptions, withManagement } from './with-management.ts';

/** `upwave collectors delete <id|name>`: deletes one collector and its sources for good. */
export async function collectorsDeleteCommand(
  idOrName: string,
  options: InventoryOptions & { readonly yes: boolean },
  output: ConsoleOutput,
): Promise<ExitCode> {
  const ask = makeConsent({ yes: options.yes, output: output.err });
  return withManagement(options, output, async (desk) => {
    const { id, name } = await findCollector(desk, idOrName);
    const label = toPrintable(`collector ${id} ${name}`);
    await ask(`delete ${label} with all its sources?`, desk.stop);
    desk.orFail(await desk.management.collectors.delete(id, desk.stop));
    return printAnswer(output, options, { deleted: { id, name } }, () => `deleted ${label}`);
  });
}

/** `upwave collectors delete-offline --days N`: starts the deletion of every collector that has been offline this long. */
export async function collectorsDeleteOfflineCommand(
  options: InventoryOptions & { readonly days: number; readonly yes: boolean },
  output: ConsoleOutput,
): Promise<ExitCode> {
  const { days } = options;
  const ask = makeConsent({ yes: options.yes, output: output.err });
  return withManagement(options, output, async ({ management, stop, orFail }) => {
    const offline = orFail(await management.collectors.listOffline(days, stop));
    if (offline.length === 0) {
      return printAnswer(
        output,
        options,
        { matching: 0, message: null },
        () => `no collector has been offline for ${counted(days, 'day')}`,
      );
    }
    await ask(question(offline, days), stop);
    const message = orFail(await management.collectors.deleteOffline(days, stop)) ?? null;
    const said = message === null ? '' : `; the service answers: ${toPrintable(messageText(message))}`;
    return printAnswer(
      output,
      options,
      { matching: offline.length, message },
      () => `deletion of ${counted(offline.length, 'collector')} started${said}`,
    );
  });
}

function question(offline: ReadonlyArray<{ readonly name: string }>, days: number): string {
  const names = toPrintable(someNames(offline.map(({ name }) => name)));
  return `delete ${counted(offline.length, 'collector')} offline for ${counted(days, 'day')} (${names})?`;
}

/** Its shape is not documented (collector-api.md §4.1). */
function messageText(message: unknown): string {
  if (typeof message === 'string') return message;
  const inner =
    message !== null && typeof message === 'object' && 'message' in message ? message.message : undefined;
  return typeof inner === 'string' ? inner : JSON.stringify(message);
}
