import { toPrintable } from '../../base/safe-text.ts';
import { assumedWords, notPlayedWords } from '../../rehearsal/result/assumed-words.ts';
import {
  clockWords,
  endWords,
  figureRows,
  type Shown,
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
export function renderRehearsal(shown: Shown): string {
  const { policy, targetBuild, rehearsal, timeZone } = shown;
  const begins = `${clockWords(rehearsal.beganAt, shown)} ${timeZone}`;
  const line = (label: string, text: string) =>
    fitLines(`${label}:`, [text], { width: usualWidth, labelColumns: 15 });
  const waves = renderTable(
    ['wave', 'collectors', 'opens', 'passes'],
    rehearsal.waves.map((wave) => waveRow(wave, shown)),
  );
  return [
    toPrintable(`${policy} → ${targetBuild}   ${counted(rehearsal.planned, 'collector')}   begins ${begins}`),
    ...line('played', seedsWords(shown)),
    ...line('assumed', assumedWords(shown)),
    ...line('not played', notPlayedWords),
    waves,
    ...rehearsal.ends.flatMap((end) => line('outcome', endWords(end, shown))),
    ...rehearsal.heldStrata
      .slice(0, heldMax)
      .flatMap(({ label, seeds }) =>
        line('held stratum', `${label}, in ${Math.round((seeds / rehearsal.seeds) * 100)}% of the seeds`),
      ),
    ...figureRows(shown).flatMap(([label, text]) => line(label, text)),
    ...(shown.variants.length === 0
      ? []
      : ['what would have caught it earlier:', renderTable(variantColumns, variantRows(shown))]),
  ].join('\n');
}
