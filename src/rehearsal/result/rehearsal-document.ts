import type { DurationMs } from '../../base/time.ts';
import {
  clock,
  labelWidth,
  plotWidth,
  type TimeAxis,
  type WaveRow,
  wavesPlot,
} from '../../rollout/report/plots.ts';
import {
  type Block,
  heading,
  plot,
  type ReportDocument,
  table,
  text,
} from '../../rollout/report/report-document.ts';
import { assumedWords, notPlayedWords } from './assumed-words.ts';
import type { Rehearsal } from './rehearsal.ts';
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

/** A rehearsal as a document, for an HTML page. */
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
      plot(wavesPlot(waveRows(rehearsal), axisOf(shown))),
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

/** Each wave from its opening to its end. Dark: the median. Light: from the 5th to the 95th percentile. */
function waveRows({ waves, beganAt, tookMs }: Rehearsal): readonly WaveRow[] {
  const bar = (fill: 'soak' | 'open', from: DurationMs, to: DurationMs) => ({
    fill,
    from: beganAt + from,
    to: beganAt + to,
  });
  return waves.map(({ name, opened, passed }) => {
    if (opened.afterMs === null) return { name, bars: [] };
    const { p95, median } = passed.afterMs ?? tookMs;
    return { name, bars: [bar('soak', opened.afterMs.p5, p95), bar('open', opened.afterMs.median, median)] };
  });
}

function axisOf(shown: Shown): TimeAxis {
  const { waves, beganAt, tookMs } = shown.rehearsal;
  const lastMs = Math.max(1, tookMs.p95, ...waves.map(({ passed }) => passed.afterMs?.p95 ?? 0));
  return {
    from: beganAt,
    to: beganAt + lastMs,
    x: (at) => Math.round(labelWidth + Math.min(1, (at - beganAt) / lastMs) * (plotWidth - labelWidth)),
    words: (at) => clockWords(at, shown),
  };
}
