import { compilePatterns, PatternError } from '../../base/text-pattern.ts';
import type { CollectorFilter } from '../../collector-api/management/collector-client.ts';
import type { Collector } from '../../contract/collector-management/collectors.ts';
import { counted } from '../../rollout/messages/sentences.ts';
import { UsageFailure } from '../shell/command.ts';
import { type ConsoleOutput, printAnswer } from '../shell/console-output.ts';
import type { ExitCode } from '../shell/exit-codes.ts';
import { renderTable } from '../shell/render-table.ts';
import { findCollector } from './find-resource.ts';
import { renderFields } from './render-fields.ts';
import { type InventoryOptions, withManagement } from './with-management.ts';

export interface CollectorsListOptions extends InventoryOptions {
  readonly filter?: CollectorFilter;
  readonly offlineDays?: number;
  /** A glob or a `/regular expression/` for names. */
  readonly match?: string;
}

/** `upwave collectors list`: the collectors of the account, or those that match. */
export async function collectorsListCommand(
  options: CollectorsListOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const { filter, offlineDays, match } = options;
  const matches = readPattern(match);
  const all = await withManagement(options, output, async ({ management, stop, orFail }) =>
    orFail(
      offlineDays === undefined
        ? await management.collectors.list(filter, stop)
        : await management.collectors.listOffline(offlineDays, stop),
    ),
  );
  const collectors = all.filter(({ name }) => matches(name));
  return printAnswer(output, options, { collectors }, () => render(collectors));
}

function readPattern(pattern: string | undefined): (name: string) => boolean {
  try {
    return compilePatterns([pattern ?? '*']);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new UsageFailure(`--match is not a regular expression that upwave runs: ${error.message}`, {
      cause: error,
    });
  }
}

function render(collectors: readonly Collector[]): string {
  if (collectors.length === 0) return 'no collector';
  const table = renderTable(
    ['id', 'name', 'type', 'build', 'alive', 'last seen', 'os', 'category'],
    collectors.map((collector) => [
      String(collector.id),
      collector.name,
      collector.collectorType ?? '',
      collector.collectorVersion ?? '',
      showAlive(collector.alive),
      showInstant(collector.lastSeenAlive),
      collector.osName ?? '',
      collector.category ?? '',
    ]),
  );
  return `${table}\n${counted(collectors.length, 'collector')}`;
}

function showAlive(alive: boolean | null | undefined): string {
  if (alive === undefined || alive === null) return '';
  return alive ? 'yes' : 'no';
}

/** An instant to the minute, in UTC; anything else becomes an empty text. */
function showInstant(at: number | null | undefined): string {
  const instant = new Date(at ?? Number.NaN);
  return Number.isNaN(instant.getTime()) ? '' : `${instant.toISOString().slice(0, 16)}Z`;
}

/** `upwave collectors show <id|name>`: every field of one collector. */
export async function collectorsShowCommand(
  idOrName: string,
  options: InventoryOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const collector = await withManagement(options, output, (desk) => findCollector(desk, idOrName));
  return printAnswer(output, options, { collector }, () => renderFields(collector));
}
