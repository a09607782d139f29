import { sumOf } from '../../base/grouping.ts';
import { showCount } from '../../base/singular-or-plural.ts';
import { type EpochMs, formatDuration } from '../../base/time.ts';
import { utc } from '../../base/time-zone.ts';
import type { RolloutNight } from '../../contract/admin/night.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { WaveStatus } from '../../contract/admin/status-parts.ts';
import { gateChart, gateCourseText } from '../charts/gate-chart.ts';
import { nightChart } from '../charts/night-chart.ts';
import { type ProgressPoint, progressChart } from '../charts/stacked-chart.ts';
import { leftBehindText, leftCollectorText } from '../messages/exclusions.ts';
import { fromText } from '../messages/plans.ts';
import { counted, rollbackEndText, starterText, stateText, waveStageText } from '../messages/sentences.ts';
import { sharedAttributeText } from '../messages/stop-causes.ts';
import { countLeft, type LeftBehind } from '../model/left-behind.ts';
import type { PlanGroups } from '../model/plan-groups.ts';
import { failedStates } from '../model/upgrade.ts';
import type { GateCourse } from '../status/describe-gates.ts';
import { failedAside } from '../status/failed-aside.ts';
import {
  type Block,
  chartBlocks,
  headingBlock,
  instantText,
  type ReportDocument,
  tableBlock,
  textBlock,
  utcText,
} from './report-blocks.ts';
import type { GroupFigures, ReportFigures } from './report-figures.ts';
import { peopleBlocks, type ReportedActs, rollbackOrder } from './report-people.ts';

/** The data of a report. */
export interface ReportInput extends ReportedActs {
  readonly groups: Pick<PlanGroups, 'strata'>;
  readonly figures: ReportFigures;
  readonly gates: readonly GateCourse[];
  /** Collectors that a rollback left on the build. */
  readonly left: readonly LeftBehind[];
  readonly night: RolloutNight;
  readonly madeAt: EpochMs;
  readonly installation: string | undefined;
}

/** Makes a report for a change ticket: what was upgraded when, failures with causes, actions, and what was not upgraded. */
export function reportDocument(input: ReportInput): ReportDocument {
  const { status } = input;
  const what = status.kind === 'rollback' ? 'Rollback' : 'Rollout';
  return {
    title: `${what} ${status.id}: ${outcomeText(status)}`,
    blocks: [
      ...summary(input),
      ...peopleBlocks(input),
      ...waves(input),
      ...failures(input),
      ...strata(input),
      ...actions(input),
      ...leftBehind(input),
    ],
  };
}

function outcomeText({ kind, state, endedAt }: RolloutStatus): string {
  return kind === 'rollback' && endedAt !== null ? rollbackEndText(state) : stateText(state);
}

function summary(input: ReportInput): readonly Block[] {
  const { status, figures, madeAt, installation } = input;
  const { all } = figures;
  const { planned, endedAt, createdAt, sharedAttribute: shared } = status;
  const [cause] = status.causes.find(({ of }) => of === 'failed')?.causes ?? [];
  const running = endedAt === null ? 'still running' : instantText(endedAt);
  const facts: ReadonlyArray<readonly [string, string]> = [
    ...(installation === undefined ? [] : [['installation', installation] as const]),
    ['policy', status.policy],
    ['builds', `${fromText(status) || 'unknown'} → ${status.backTo.join(', ') || status.targetBuild}`],
    ['plan', status.planHash],
    ['started', `${instantText(createdAt)}, by ${starterText(starterOf(input))}`],
    ['ended', running],
    ['took', formatDuration((endedAt ?? madeAt) - createdAt)],
    // While it runs, the reason is that of its state: who approved or resumed it.
    [
      endedAt === null ? 'state' : 'outcome',
      `${outcomeText(status)}${status.reason === '' ? '' : `: ${status.reason}`}`,
    ],
    ['collectors', [`${showCount(planned)} planned`, ...endTexts(status, all)].join(', ')],
    ...(cause === undefined
      ? []
      : [['main cause', `${showCount(cause.count)} failed: ${cause.text}`] as const]),
    ...(shared === null ? [] : [['in common', sharedAttributeText(shared)] as const]),
    ['one upgrade', durationText(all)],
    ['report made', instantText(madeAt)],
  ];
  return [tableBlock(['', ''], facts)];
}

/** An event or the audit has the name of the operator. It may be gone from a long history. */
function starterOf({ status, events, holdings }: ReportInput): string {
  const order = rollbackOrder(holdings, status);
  return order?.by ?? events.find(({ event }) => event === 'rollout.planned')?.by ?? status.startedBy;
}

function endTexts({ leftBehind }: RolloutStatus, all: GroupFigures): readonly string[] {
  const { succeeded, rolledBack } = all.ends;
  const left = countLeft(leftBehind);
  return [
    `${showCount(succeeded)} succeeded`,
    `${showCount(failed(all))} failed`,
    ...(rolledBack === 0 ? [] : [`${showCount(rolledBack)} rolled back later`]),
    ...(left === 0 ? [] : [`${showCount(left)} not rolled back`]),
  ];
}

function waves({ status, figures, madeAt, night, gates: courses }: ReportInput): readonly Block[] {
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

/** A column that only a rollout with collectors that were rolled back has. They count by the end of their upgrade, too. */
function rolledBackColumns({ all }: ReportFigures): readonly string[] {
  return all.ends.rolledBack === 0 ? [] : ['rolled back later'];
}

function rolledBackCells(figures: ReportFigures, group: GroupFigures | undefined): readonly string[] {
  return rolledBackColumns(figures).map(() => showCount(group?.ends.rolledBack ?? 0));
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

/** Failed attempts by cause, and then the upgrades that did not start: those are no failures. */
function failures({ status }: ReportInput): readonly Block[] {
  const { causes, sharedAttribute: shared } = status;
  const failed = causeRows(causes.filter(({ of }) => of === 'failed' || of === 'retrying'));
  const others = causeRows(causes.filter(({ of }) => of === 'deferred' || of === 'withdrawn'));
  const columns = ['outcome', 'collectors', 'cause', 'strata', 'such as'];
  return [
    ...(failed.length === 0
      ? [
          headingBlock('Failures'),
          textBlock(status.kind === 'rollback' ? 'No collector failed to go back.' : 'No upgrade failed.'),
        ]
      : [
          headingBlock('Failures by cause'),
          ...(shared === null ? [] : [textBlock(`In common: ${sharedAttributeText(shared)}.`)]),
          tableBlock(columns, failed),
        ]),
    ...(others.length === 0 ? [] : [headingBlock('Deferred and withdrawn'), tableBlock(columns, others)]),
  ];
}

function causeRows(groups: RolloutStatus['causes']): ReadonlyArray<readonly string[]> {
  return groups.flatMap((group) => [
    ...group.causes.map(({ text, count, strata, otherStrata, names }) => {
      const more = otherStrata.strata > 0 ? [`${otherStrata.strata} more`] : [];
      const where = [...strata.map(({ label }) => label), ...more].join('; ');
      return [group.of, showCount(count), text, where, names.join(', ')];
    }),
    ...(group.others.count === 0 ? [] : [[group.of, showCount(group.others.count), 'other causes', '', '']]),
  ]);
}

function strata({ figures, groups, status }: ReportInput): readonly Block[] {
  const rows = [...figures.strata].map(([index, group]) => [
    groups.strata[index]?.label ?? '',
    showCount(group.planned),
    showCount(group.ends.succeeded),
    ...rolledBackCells(figures, group),
    showCount(failed(group)),
    showCount(group.ends.withdrawn),
    durationText(group),
  ]);
  const held = status.strata.held.map(({ label, reason, by, at }) => [label, instantText(at), by, reason]);
  return [
    headingBlock('Strata'),
    tableBlock(
      [
        ...['stratum', 'planned', 'succeeded'],
        ...rolledBackColumns(figures),
        ...['failed', 'withdrawn', 'one upgrade'],
      ],
      rows,
      'strata',
    ),
    ...(held.length === 0
      ? []
      : [
          headingBlock('Held strata'),
          tableBlock(['stratum', 'since', 'by', 'reason, as it was then'], held),
        ]),
  ];
}

/** The events of the rollout itself and all actions of operators. */
function actions({ events }: ReportInput): readonly Block[] {
  const rows = events
    .filter(({ event, by }) => !event.startsWith('upgrade.') || by !== 'daemon')
    .map(({ at, event, by, wave, collectorName, reason }) => {
      const subject = collectorName ?? (wave === undefined ? '' : `wave ${wave}`);
      return [instantText(at), by, event, subject, reason];
    });
  return [headingBlock('Events'), tableBlock(['when', 'by', 'event', 'about', 'reason'], rows, 'events')];
}

/** Collectors that a rollback left on the build come first. */
function leftBehind(input: ReportInput): readonly Block[] {
  const { status, left, figures } = input;
  const { missed, missedTotal, returned } = figures;
  const stays = [
    ...left.map(({ why, count, some }) => {
      const more = count > some.length ? [`… ${showCount(count - some.length)} more`] : [];
      const names = [...some.map(leftCollectorText), ...more].join(', ');
      return ['not rolled back', showCount(count), leftBehindText(why), names];
    }),
    ...status.leftOut.map(({ reason, count }) => ['left out of the plan', showCount(count), reason, '']),
  ];
  const rows = missed.map(({ id, name, build, wave, state, at, reason }) => [
    String(id),
    name,
    build,
    status.waves[wave]?.name ?? '',
    stateText(state),
    instantText(at),
    reason,
  ]);
  const more = missedTotal - missed.length;
  return [
    headingBlock('Left behind'),
    ...(stays.length === 0 ? [] : [tableBlock(['why', 'collectors', 'reason', 'such as'], stays)]),
    ...(returned.size === 0 ? [] : [tableBlock(['rolled back to', 'collectors'], returnedRows(returned))]),
    ...(rows.length === 0
      ? allDone(input)
      : [
          tableBlock(
            ['id', 'collector', 'build before', 'wave', 'state', 'at', 'reason'],
            rows,
            // They are for looking one up, and the causes stand above.
            { name: 'collectors', rowsMax: 5 },
          ),
        ]),
    ...(more === 0
      ? []
      : [
          textBlock(
            `${counted(more, 'more collector was', 'more collectors were')} not upgraded: upwave export ${status.id} lists all.`,
          ),
        ]),
  ];
}

function returnedRows(returned: ReportFigures['returned']): ReadonlyArray<readonly string[]> {
  return [...returned].sort(([, a], [, b]) => b - a).map(([build, count]) => [build, showCount(count)]);
}

function allDone({ status, figures: { returned } }: ReportInput): readonly Block[] {
  if (returned.size > 0) return [];
  const done = status.kind === 'rollback' ? 'went back' : 'was upgraded';
  return [textBlock(`Every planned collector ${done}.`)];
}

function failed({ ends }: GroupFigures): number {
  return sumOf(failedStates, (state) => ends[state]);
}

function durationText({ durations }: GroupFigures): string {
  if (durations === null) return '';
  return `median ${formatDuration(durations.medianMs)}, p95 ${formatDuration(durations.p95Ms)}`;
}

const inUtc = { zone: utc.name, localOf: utc.localOf };
