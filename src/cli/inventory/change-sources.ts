import { toPrintable } from '../../base/safe-text.ts';
import type { SourceDraft } from '../../collector-api/management/source-client.ts';
import { Source, sourceNameOf } from '../../contract/collector-management/sources.ts';
import { UsageFailure } from '../shell/command.ts';
import { type ConsoleOutput, printAnswer, printJson } from '../shell/console-output.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { makeConsent } from '../shell/operator.ts';
import { findCollector, findSource, sourceLabel } from './find-resource.ts';
import { reportChange, reportConflict } from './report-change.ts';
import { likelySlips } from './settable-fields.ts';
import { combineFields, readOneStatement, readStatedFields, type StatedFields } from './stated-fields.ts';
import { type InventoryOptions, withManagement } from './with-management.ts';

/**
 * `upwave sources create <collector>`: creates one source, or every source of an exported document. The service takes one
 * source in a request (collector-api.md §4.2). The first failure ends the command, which then names what it has created.
 */
export async function sourcesCreateCommand(
  collectorIdOrName: string,
  options: InventoryOptions & StatedFields,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const { json, set } = options;
  const files = readStatedFields(options, 'source');
  for (const words of new Set(likelySlips(files.flatMap(Object.keys))))
    output.err.write(`warning: ${toPrintable(words)}\n`);
  const drafts = files.map((file) => draftOf(combineFields({ current: {}, file, set }, Source.shape)));
  const created: Source[] = [];
  try {
    await withManagement(options, output, async (desk) => {
      const { id } = await findCollector(desk, collectorIdOrName);
      for (const draft of drafts) {
        const source = desk.orFail(await desk.management.sources.create(id, draft, desk.stop));
        created.push(source);
        if (!json) output.out.write(`created ${sourceLabel(source)}\n`);
      }
    });
  } finally {
    if (json && created.length > 0) printJson(output, { sources: created });
  }
  return exitCodes.done;
}

function draftOf(fields: Readonly<Record<string, unknown>>): SourceDraft {
  const { sourceType } = fields;
  if (sourceNameOf(fields) === undefined || typeof sourceType !== 'string') {
    throw new UsageFailure('a source needs a name and a type: --set name=… --set sourceType=LocalFile');
  }
  return { ...fields, sourceType };
}

/** `upwave sources update <collector> <source>`: sets the named fields, and leaves the others as they are. */
export async function sourcesUpdateCommand(
  inCollector: string,
  named: string,
  options: InventoryOptions & StatedFields,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const { json, set } = options;
  const file = readOneStatement(options, 'source');
  const changed = await withManagement(options, output, async (desk) => {
    const { place } = await findSource(desk, inCollector, named);
    return desk.orFail(
      await desk.management.sources.change(
        place,
        (current) => combineFields({ current, file, set }, Source.shape),
        {
          signal: desk.stop,
          onConflict: (conflict) => reportConflict(conflict, 'source', output),
        },
      ),
    );
  });
  return reportChange(changed, { kind: 'source', json }, output);
}

/** `upwave sources delete <collector> <source>`: deletes one source for good. */
export async function sourcesDeleteCommand(
  inCollector: string,
  named: string,
  options: InventoryOptions & { readonly yes: boolean },
  output: ConsoleOutput,
): Promise<ExitCode> {
  const ask = makeConsent({ yes: options.yes, output: output.err });
  return withManagement(options, output, async (desk) => {
    const { collector, source, place } = await findSource(desk, inCollector, named);
    const label = `${sourceLabel(source)} of ${toPrintable(`collector ${collector.id} ${collector.name}`)}`;
    await ask(`delete ${label}?`, desk.stop);
    desk.orFail(await desk.management.sources.delete(place, desk.stop));
    return printAnswer(
      output,
      options,
      { deleted: { id: source.id, name: sourceNameOf(source), collectorId: collector.id } },
      () => `deleted ${label}`,
    );
  });
}
