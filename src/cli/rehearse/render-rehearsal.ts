import { toPrintable } from '../../base/safe-text.ts';
import { assumedText, notPlayedText } from '../../rehearsal/result/assumed-text.ts';
import {
  clockText,
  endText,
  figureRows,
  noVariantText,
  type ShownRehearsal,
  seedsText,
  variantColumns,
  variantRows,
  variantsHeading,
  waveRow,
} from '../../rehearsal/result/rehearsal-text.ts';
import { counted } from '../../rollout/messages/sentences.ts';
import { fitLines, usualWidth } from '../rollouts/fit-lines.ts';
import { renderTable } from '../shell/render-table.ts';

/** How many strata the text shows; the JSON has all. */
const heldMax = 5;

/** A rehearsal as text of 80 columns. */
export function renderRehearsal(result: ShownRehearsal): string {
  const { policy, targetBuild, rehearsal, timeZone } = result;
  const begins = `${clockText(rehearsal.beganAt, result)} ${timeZone}`;
  const line = (label: string, text: string) =>
    fitLines(`${label}:`, [text], { width: usualWidth, labelColumns: 15 });
  const waves = renderTable(
    ['wave', 'collectors', 'opens', 'passes'],
    rehearsal.waves.map((wave) => waveRow(wave, result)),
  );
  return [
    toPrintable(`${policy} → ${targetBuild}   ${counted(rehearsal.planned, 'collector')}   begins ${begins}`),
    ...line('played', seedsText(result)),
    ...line('assumed', assumedText(result)),
    ...line('not played', notPlayedText(result)),
    waves,
    ...rehearsal.ends.flatMap((end) => line('outcome', endText(end, result))),
    ...rehearsal.heldStrata
      .slice(0, heldMax)
      .flatMap(({ label, seeds }) =>
        line('held stratum', `${label}, in ${Math.round((seeds / rehearsal.seeds) * 100)}% of the seeds`),
      ),
    ...figureRows(result).flatMap(([label, text]) => line(label, text)),
    ...variantLines(result),
  ].join('\n');
}

function variantLines(result: ShownRehearsal): readonly string[] {
  if (result.variants.length === 0) return [];
  const rows = variantRows(result);
  if (rows.length === 0) return fitLines('', [noVariantText], { width: usualWidth, labelColumns: 0 });
  return [`${variantsHeading(result)}:`, renderTable(variantColumns, rows)];
}
