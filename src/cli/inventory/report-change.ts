import { toPrintable } from '../../base/safe-text.ts';
import type { Changed, Conflict } from '../../collector-api/management/change-resource.ts';
import { type ConsoleOutput, printJson } from '../shell/console-output.ts';
import { sourceLabel } from './find-collector.ts';
import { renderDifference } from './render-fields.ts';

interface Reported {
  readonly kind: 'collector' | 'source';
  readonly json: boolean;
  /** Change by themselves, and are left out. */
  readonly transientFields: readonly string[];
}

/** Shows what an update did. */
export function reportChange(
  changed: Changed<{ readonly id?: number | undefined; readonly name?: string | undefined }>,
  { kind, json, transientFields }: Reported,
  output: ConsoleOutput,
): void {
  const { after, isChanged } = changed;
  if (json) {
    printJson(output, { changed: isChanged, [kind]: after });
    return;
  }
  const label = kind === 'source' ? sourceLabel(after) : toPrintable(`${kind} ${after.id} ${after.name}`);
  if (!isChanged) {
    output.out.write(`${label}: nothing to change\n`);
    return;
  }
  output.out.write(`${label} changed\n${indented(renderDifference(changed, transientFields))}`);
}

/** Reports, before the update is tried once more, what someone else changed meanwhile. */
export function reportConflict(
  { seen, now }: Conflict<object>,
  transientFields: readonly string[],
  output: ConsoleOutput,
): void {
  const difference = renderDifference({ before: seen, after: now }, transientFields);
  const what = difference.length === 0 ? ['(nothing that can be seen)'] : difference;
  output.err.write(`someone else changed it meanwhile; trying once more on top of:\n${indented(what)}`);
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}\n`).join('');
}
