import type { DurationMs } from '../../base/time.ts';
import { clock, type Plot, type Shape } from '../../rollout/report/plots.ts';
import {
  type Block,
  heading,
  plot,
  type ReportDocument,
  table,
  text,
} from '../../rollout/report/report-document.ts';
import { assumedWords, notPlayedWords } from './assumed-words.ts';
import {
  clockWords,
  endWords,
  figureRows,
  type Shown,
  seedsWords,
  variantColumns,
  variantRows,
  waveRow,
} from './rehearsal-words.ts';

/** A rehearsal as a document, to be written as a page. */
export function rehearsalDocument(shown: Shown): ReportDocument {
  const { policy, targetBuild, rehearsal, variants } = shown;
  const facts = [
    ['policy', policy],
    ['build', targetBuild],
    ['begins', clock(rehearsal.beganAt)],
    ['collectors', `${rehearsal.planned} planned`],
    ['played', seedsWords(shown)],
    ['assumed', assumedWords(shown)],
    ['not played', notPlayedWords],
    ...figureRows(shown),
  ];
  return {
    title: `Rehearsal of ${policy}`,
    blocks: [
      table(['', ''], facts),
      heading('Waves'),
      plot(wavesPlot(shown)),
      text('Dark: the median. Light: from the 5th to the 95th percentile of the seeds.'),
      table(
        ['wave', 'collectors', 'opened', 'passed'],
        rehearsal.waves.map((wave) => waveRow(wave, shown)),
      ),
      heading('How it ends'),
      ...rehearsal.ends.map((end) => text(endWords(end, shown))),
      ...heldBlocks(shown),
      ...(variants.length === 0
        ? []
        : [heading('What would have caught it earlier'), table(variantColumns, variantRows(shown))]),
    ],
  };
}

function heldBlocks({ rehearsal: { heldStrata, seeds } }: Shown): readonly Block[] {
  if (heldStrata.length === 0) return [];
  const rows = heldStrata
    .slice(0, heldMax)
    .map(({ label, seeds: count }) => [label, `${Math.round((count / seeds) * 100)}%`]);
  return [heading('Held strata'), table(['stratum', 'seeds'], rows)];
}

const heldMax = 20;
const width = 900;
const labelWidth = 140;
const rowHeight = 26;

/** Each wave from its opening to its end: dark in nearly all seeds, light in the earliest and latest of them. */
function wavesPlot(shown: Shown): Plot {
  const { waves, beganAt, tookMs } = shown.rehearsal;
  const lastMs = Math.max(1, tookMs.p95, ...waves.map(({ passed }) => passed.afterMs?.p95 ?? 0));
  const x = (afterMs: DurationMs) =>
    Math.round(labelWidth + Math.min(1, afterMs / lastMs) * (width - labelWidth));
  const shapes = waves.flatMap(({ name, opened, passed }, row): Shape[] => {
    const y = row * rowHeight + 4;
    const label: Shape = { kind: 'text', x: 0, y: y + 14, text: name, anchor: 'start' };
    if (opened.afterMs === null) return [label];
    const until = passed.afterMs ?? { p5: tookMs.p5, median: tookMs.median, p95: tookMs.p95 };
    const bar = (fill: 'soak' | 'open', from: DurationMs, to: DurationMs): Shape => ({
      ...{ kind: 'bar', fill, x: x(from), y, width: Math.max(2, x(to) - x(from)), height: rowHeight - 8 },
      text: `${name}: ${clockWords(beganAt + from, shown)} to ${clockWords(beganAt + to, shown)}`,
    });
    return [
      label,
      bar('soak', opened.afterMs.p5, until.p95),
      bar('open', opened.afterMs.median, until.median),
    ];
  });
  const height = waves.length * rowHeight + 22;
  const at = { kind: 'text', y: height - 6 } as const;
  return {
    title: 'Waves over time',
    width,
    height,
    shapes: [
      ...shapes,
      { ...at, x: labelWidth, text: clockWords(beganAt, shown), anchor: 'start' },
      { ...at, x: width, text: clockWords(beganAt + lastMs, shown), anchor: 'end' },
    ],
  };
}
