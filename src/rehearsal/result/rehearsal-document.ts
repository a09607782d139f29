import type { DurationMs } from '../../base/time.ts';
import type { ChartElement } from '../../rollout/charts/chart-element.ts';
import { type Lane, wavesChart } from '../../rollout/charts/waves-chart.ts';
import {
  type Block,
  chartBlocks,
  headingBlock,
  type ReportDocument,
  tableBlock,
  textBlock,
  utcText,
} from '../../rollout/report/report-document.ts';
import { assumedText, notPlayedText } from './assumed-text.ts';
import {
  clockText,
  endText,
  figureRows,
  type ShownRehearsal,
  seedsText,
  variantColumns,
  variantRows,
  waveRow,
} from './rehearsal-text.ts';

/** A rehearsal as a document, for an HTML page. */
export function rehearsalDocument(result: ShownRehearsal): ReportDocument {
  const { policy, targetBuild, rehearsal, variants } = result;
  const facts = [
    ['policy', policy],
    ['build', targetBuild],
    ['begins', utcText(rehearsal.beganAt)],
    ['collectors', `${rehearsal.planned} planned`],
    ['played', seedsText(result)],
    ['assumed', assumedText(result)],
    ['not played', notPlayedText],
    ...figureRows(result),
  ];
  return {
    title: `Rehearsal of ${policy}`,
    blocks: [
      tableBlock(['', ''], facts),
      headingBlock('Waves'),
      ...chartBlocks(timeline(result)),
      tableBlock(
        ['wave', 'collectors', 'opened', 'passed'],
        rehearsal.waves.map((wave) => waveRow(wave, result)),
      ),
      headingBlock('How it ends'),
      ...rehearsal.ends.map((end) => textBlock(endText(end, result))),
      ...heldBlocks(result),
      ...(variants.length === 0
        ? []
        : [
            headingBlock('What would have caught it earlier'),
            tableBlock(variantColumns, variantRows(result)),
          ]),
    ],
  };
}

function heldBlocks({ rehearsal: { heldStrata, seeds } }: ShownRehearsal): readonly Block[] {
  if (heldStrata.length === 0) return [];
  const rows = heldStrata
    .slice(0, heldMax)
    .map(({ label, seeds: count }) => [label, `${Math.round((count / seeds) * 100)}%`]);
  return [headingBlock('Held strata'), tableBlock(['stratum', 'seeds'], rows)];
}

const heldMax = 20;

/** Each wave from its opening to its end: the median over the range of the seeds. */
function timeline(result: ShownRehearsal): ChartElement {
  const { waves, beganAt, tookMs } = result.rehearsal;
  const lastMs = Math.max(1, tookMs.p95, ...waves.map(({ passed }) => passed.afterMs?.p95 ?? 0));
  const stretch = (tone: string, from: DurationMs, to: DurationMs) => {
    return { tone, from: beganAt + from, to: beganAt + to };
  };
  const lanes = waves.map(({ name, opened, passed }): Lane => {
    if (opened.afterMs === null) return { name, stretches: [] };
    const { p95, median } = passed.afterMs ?? tookMs;
    const range = stretch('soft', opened.afterMs.p5, p95);
    return { name, stretches: [range, stretch('busy', opened.afterMs.median, median)] };
  });
  return wavesChart({
    axis: { from: beganAt, to: beganAt + lastMs, words: (at) => clockText(at, result) },
    lanes,
    legend: [
      { tone: 'busy', name: 'the median' },
      { tone: 'soft', name: 'from the 5th to the 95th percentile of the seeds' },
    ],
  });
}
