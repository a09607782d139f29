import { toPrintable } from '../../base/safe-text.ts';
import { assumedWords, notPlayedWords } from '../../rehearsal/result/assumed-words.ts';
import {
  clockWords,
  endWords,
  figureRows,
  type ShownRehearsal,
  seedsWords,
  variantColumns,
  variantRows,
  waveRow,
} from '../../rehearsal/result/rehearsal-words.ts';
import { counted } from '../../rollout/messages/sentences.ts';
import { fitLines, usualWidth } from '../rollouts/fit-lines.ts';
import { renderTable } from '../shell/render-table.ts';

/** How many strata the text shows; the JSON has all. */
const heldMax = 5;

/** A rehearsal as text of 80 columns. */
export function renderRehearsal(result: ShownRehearsal): string {
  const { policy, targetBuild, rehearsal, timeZone } = result;
  const begins = `${clockWords(rehearsal.beganAt, result)} ${timeZone}`;
  const line = (label: string, text: string) =>
    fitLines(`${label}:`, [text], { width: usualWidth, labelColumns: 15 });
  const waves = renderTable(
    ['wave', 'collectors', 'opens', 'passes'],
    rehearsal.waves.map((wave) => waveRow(wave, result)),
  );
  return [
    toPrintable(`${policy} → ${targetBuild}   ${counted(rehearsal.planned, 'collector')}   begins ${begins}`),
    ...line('played', seedsWords(result)),
    ...line('assumed', assumedWords(result)),
    ...line('not played', notPlayedWords),
    waves,
    ...rehearsal.ends.flatMap((end) => line('outcome', endWords(end, result))),
    ...rehearsal.heldStrata
      .slice(0, heldMax)
      .flatMap(({ label, seeds }) =>
        line('held stratum', `${label}, in ${Math.round((seeds / rehearsal.seeds) * 100)}% of the seeds`),
      ),
    ...figureRows(result).flatMap(([label, text]) => line(label, text)),
    ...(result.variants.length === 0
      ? []
      : ['what would have caught it earlier:', renderTable(variantColumns, variantRows(result))]),
  ].join('\n');
}
