import { toPrintable } from '../../base/safe-text.ts';
import type { Changed, Conflict } from '../../collector-api/management/change-resource.ts';
import { collectorAccess, sourceAccess } from '../../contract/collector-management/field-access.ts';
import { type ConsoleOutput, printAnswer } from '../shell/console-output.ts';
import type { ExitCode } from '../shell/exit-codes.ts';
import { sourceLabel } from './find-resource.ts';
import { renderDifference } from './render-fields.ts';

type ResourceKind = 'collector' | 'source';

/** Shows what an update did. */
export function reportChange(
  changed: Changed<{ readonly id?: number | undefined; readonly name?: string | undefined }>,
  { kind, json }: { readonly kind: ResourceKind; readonly json: boolean },
  output: ConsoleOutput,
): ExitCode {
  const { after, isChanged } = changed;
  const label = kind === 'source' ? sourceLabel(after) : toPrintable(`${kind} ${after.id} ${after.name}`);
  return printAnswer(output, { json }, { changed: isChanged, [kind]: after }, () =>
    isChanged
      ? [`${label} changed`, ...indented(renderDifference(changed, transientFields[kind]))].join('\n')
      : `${label}: nothing to change`,
  );
}

/** Reports what someone else has changed meanwhile, before the update is tried once more. */
export function reportConflict(
  { seen, now }: Conflict<object>,
  kind: ResourceKind,
  output: ConsoleOutput,
): void {
  const difference = renderDifference({ before: seen, after: now }, transientFields[kind]);
  const what = difference.length === 0 ? ['(no visible difference)'] : difference;
  const head = 'someone else changed it meanwhile; trying once more on top of:';
  output.err.write(`${[head, ...indented(what)].join('\n')}\n`);
}

/** Fields that change by themselves. Reports leave them out. */
const transientFields: Readonly<Record<ResourceKind, readonly string[]>> = {
  collector: collectorAccess.transient,
  source: sourceAccess.transient,
};

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}
