import { showCount } from '../../base/singular-or-plural.ts';
import type { EpochMs } from '../../base/time.ts';
import { utc } from '../../base/time-zone.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { WaveStatus } from '../../contract/admin/status-parts.ts';
import { gateChart, gateCourseText } from '../charts/gate-chart.ts';
import { nightChart } from '../charts/night-chart.ts';
import { type ProgressPoint, progressChart } from '../charts/stacked-chart.ts';
import { waveStageText } from '../messages/sentences.ts';
import type { GateCourse } from '../status/describe-gates.ts';
import { failedAside } from '../status/failed-aside.ts';
import { durationText, rolledBackCells, rolledBackColumns } from './figure-texts.ts';
import {
  type Block,
  chartBlocks,
  headingBlock,
  instantText,
  tableBlock,
  textBlock,
  utcText,
} from './report-blocks.ts';
import type { GroupFigures, ReportFigures } from './report-figures.ts';
import type { ReportInput } from './report-input.ts';

const inUtc = { zone: utc.name, localOf: utc.localOf };

/** The night as a picture, its waves and gates as tables, and the ends of upgrades, added up. */
export function waveBlocks({
  status,
  figures,
  madeAt,
  night,
  gates: courses,
}: ReportInput): readonly Block[] {
  const rows = status.waves.map((wave, index) => {
    const group = figures.waves.get(index);
    return [
      wave.name,
      waveStageText(wave.state, status.endedAt),
      instantText(wave.openedAt),
      instantText(wave.passedAt),
      `${showCount(group?.ends.succeeded ?? 0)}/${showCount(wave.size)}`,
      ...rolledBackCells(figures, group),
      failuresText(status, wave, group),
      group === undefined ? '' : durationText(group),
    ];
  });
  const gates = status.waves.flatMap((wave) => wave.gates.map((gate) => gateRow(wave, gate)));
  const until = status.endedAt ?? madeAt;
  return [
    headingBlock('Waves'),
    ...chartBlocks(
      nightChart(night, {
        ...{ ...inUtc, now: madeAt, nowText: 'report made', list: 'open' },
        ...{ eta: status.eta, waves: status.waves },
      }),
    ),
    tableBlock(
      [
        ...['wave', 'state', 'opened', 'passed', 'succeeded'],
        ...rolledBackColumns(figures),
        ...['failures', 'one upgrade'],
      ],
      rows,
    ),
    ...chartBlocks(
      progressChart(progressPoints(figures, status.createdAt, until), {
        ...inUtc,
        planned: status.planned,
      }),
    ),
    ...(gates.length === 0
      ? []
      : [
          headingBlock('Gates'),
          tableBlock(['wave', 'probe', 'verdict', 'value', 'answer'], gates),
          ...courses.flatMap((course) => gateTrend(course)),
        ]),
  ];
}

/** What counts against the limit of the wave, and the failures that do not. */
function failuresText(status: RolloutStatus, wave: WaveStatus, group: GroupFigures | undefined): string {
  const aside = failedAside(status, wave);
  const before = group?.failedBefore ?? 0;
  return [
    `${wave.failures} of ${wave.failuresAllowed} allowed`,
    ...(wave.acknowledged > 0 ? [`${wave.acknowledged} acknowledged`] : []),
    ...(aside > 0 ? [`${aside} more in held strata, not counted`] : []),
    ...(before > 0 ? [`${before} more rolled back later`] : []),
  ].join(', ');
}

function gateTrend(gate: GateCourse): readonly Block[] {
  const named = { ...gate, name: `${gate.wave}: ${gate.name}` };
  const drawn = chartBlocks(gateChart(named, utcText));
  return drawn.length === 0 ? [] : [textBlock(gateCourseText(named, utcText)), ...drawn];
}

// More points than this are not visible.
const pointsMax = 300;

/** The ends of upgrades, added up. */
function progressPoints({ ends }: ReportFigures, from: EpochMs, until: EpochMs): readonly ProgressPoint[] {
  let failures = 0;
  const points = ends.map(({ at, failed: isFailure }, index): ProgressPoint => {
    if (isFailure) failures += 1;
    return { at, succeeded: index + 1 - failures, failed: failures };
  });
  const step = Math.ceil(points.length / pointsMax);
  const kept = points.filter((_, index) => (index + 1) % step === 0);
  const last = points.at(-1) ?? { succeeded: 0, failed: 0 };
  return [{ at: from, succeeded: 0, failed: 0 }, ...kept, { ...last, at: until }];
}

function gateRow({ name: wave }: WaveStatus, gate: WaveStatus['gates'][number]): readonly string[] {
  const verdict = `${gate.verdict}${gate.dryRun ? ' (dry run)' : ''}`;
  return [
    wave,
    gate.name,
    verdict,
    gate.value === null ? '' : String(Number(gate.value.toPrecision(6))),
    gate.words,
  ];
}
