import type { SourceDraft } from '../collector-api/source-client.ts';
import { Source, sourceNameOf } from '../contract/source.ts';
import { CommandFailure } from './command-failure.ts';
import type { GlobalOptions } from './command-runner.ts';
import type { ConsoleOutput } from './console-output.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { findCollector, sourceLabel } from './find-collector.ts';
import { printJson } from './print-json.ts';
import { combineFields, readStatedFields, type StatedFields } from './stated-fields.ts';
import { withManagement } from './with-management.ts';

/**
 * `upwave sources create <collector>`: one source, or all of an exported document. The service takes one a request
 * (collector-api.md §4.2), so the first that fails ends it; what was created until then is said.
 */
export async function sourcesCreateCommand(
  collectorIdOrName: string,
  { config, json }: GlobalOptions,
  stated: StatedFields,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const drafts = readStatedFields(stated, 'source').map((file) =>
    draftOf(combineFields({ current: {}, file, set: stated.set }, Source.shape)),
  );
  const created: Source[] = [];
  try {
    await withManagement({ config, output }, async (desk) => {
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
    throw new CommandFailure(
      exitCodes.usageOrConfig,
      'a source needs a name and a type: --set name=… --set sourceType=LocalFile',
    );
  }
  return { ...fields, sourceType };
}
