import { sumOf } from '../../base/grouping.ts';
import { type DurationMs, type EpochMs, formatDuration } from '../../base/time.ts';
import { utc } from '../../base/time-zone.ts';
import { reservedNames } from '../../base/vocabulary.ts';
import type { AuditEntry } from '../../contract/admin/holds.ts';
import type { RolloutNight } from '../../contract/admin/night.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { WaveStatus } from '../../contract/admin/status-parts.ts';
import type { ChartElement } from '../charts/chart-element.ts';
import { gateChart, gateCourseText } from '../charts/gate-chart.ts';
import { nightChart } from '../charts/night-chart.ts';
import { type ProgressPoint, progressChart } from '../charts/stacked-chart.ts';
import { counted, starterText, stateText, waveStageText } from '../messages/sentences.ts';
import { sharedAttributeText } from '../messages/stop-causes.ts';
import { heldName } from '../messages/stratum-reasons.ts';
import type { RolloutEvent } from '../model/events.ts';
import type { PlanGroups } from '../model/plan-groups.ts';
import { failedStates } from '../model/upgrade.ts';
import type { GateCourse } from '../status/describe-gates.ts';
import { failedAside } from '../status/failed-aside.ts';
import type { GroupFigures, ReportFigures } from './report-figures.ts';

/** The data of a report. */
export interface ReportInput {
  readonly status: RolloutStatus;
  readonly groups: Pick<PlanGroups, 'strata'>;
  readonly figures: ReportFigures;
  /** The stored events, oldest first. */
  readonly events: readonly RolloutEvent[];
  /** Who held and released what, over all rollouts. */
  readonly holdings: readonly AuditEntry[];
  readonly gates: readonly GateCourse[];
  readonly night: RolloutNight;
  readonly madeAt: EpochMs;
  readonly installation: string | undefined;
}

/** A part of a report. Its texts are not escaped yet. */
export type Block =
  | { readonly kind: 'heading'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'chart'; readonly chart: ChartElement }
  | {
      readonly kind: 'table';
      readonly columns: readonly string[];
      readonly rows: ReadonlyArray<readonly string[]>;
      readonly fold: TableFold;
    };

/** HTML folds a table that is longer than a screen, under the number of its rows and this word. */
export interface TableFold {
  readonly name: string;
  readonly rowsMax: number;
}

// With the heading and a summary around it, about a screen.
const usualFold: TableFold = { name: 'rows', rowsMax: 20 };

export interface ReportDocument {
  readonly title: string;
  readonly blocks: readonly Block[];
}

/** Makes a report for a change ticket: what was upgraded when, failures with causes, actions, and what was not upgraded. */
export function reportDocument(input: ReportInput): ReportDocument {
  const { status } = input;
  const what = status.kind === 'rollback' ? 'Rollback' : 'Rollout';
  return {
    title: `${what} ${status.id}: ${stateText(status.state)}`,
    blocks: [
      ...summary(input),
      ...people(input),
      ...waves(input),
      ...failures(input),
      ...strata(input),
      ...actions(input),
      ...leftBehind(input),
    ],
  };
}

function summary({ status, events, figures: { all }, madeAt, installation }: ReportInput): readonly Block[] {
  const { planned, endedAt, createdAt, sharedAttribute: shared } = status;
  const [cause] = status.causes.find(({ of }) => of === 'failed')?.causes ?? [];
  // The event has the name of the operator. It may be gone from a long history.
  const startedBy = events.find(({ event }) => event === 'rollout.planned')?.by ?? status.startedBy;
  const running = endedAt === null ? 'still running' : instant(endedAt);
  const facts: ReadonlyArray<readonly [string, string]> = [
    ...(installation === undefined ? [] : [['installation', installation] as const]),
    ['policy', status.policy],
    [
      'builds',
      `${status.fromBuilds.join(', ') || 'unknown'} → ${status.backTo.join(', ') || status.targetBuild}`,
    ],
    ['plan', status.planHash],
    ['started', `${instant(createdAt)}, by ${starterText(startedBy)}`],
    ['ended', running],
    ['took', formatDuration((endedAt ?? madeAt) - createdAt)],
    // While it runs, the reason is that of its state: who approved or resumed it.
    [
      endedAt === null ? 'state' : 'outcome',
      `${stateText(status.state)}${status.reason === '' ? '' : `: ${status.reason}`}`,
    ],
    ['collectors', `${planned} planned, ${all.ends.succeeded} succeeded, ${failed(all)} failed`],
    ...(cause === undefined ? [] : [['main cause', `${cause.count} failed: ${cause.text}`] as const]),
    ...(shared === null ? [] : [['in common', sharedAttributeText(shared)] as const]),
    ['one upgrade', durationText(all)],
    ['report made', instant(madeAt)],
  ];
  return [tableBlock(['', ''], facts)];
}

function waves({ status, figures, madeAt, night, gates: courses }: ReportInput): readonly Block[] {
  const rows = status.waves.map((wave, index) => {
    const group = figures.waves.get(index);
    return [
      wave.name,
      waveStageText(wave.state, status.endedAt),
      instant(wave.openedAt),
      instant(wave.passedAt),
      `${wave.counts.succeeded}/${wave.size}`,
      failuresText(status, wave),
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
    tableBlock(['wave', 'state', 'opened', 'passed', 'succeeded', 'failures', 'one upgrade'], rows),
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
function failuresText(status: RolloutStatus, wave: WaveStatus): string {
  const aside = failedAside(status, wave);
  return [
    `${wave.failures} of ${wave.failuresAllowed} allowed`,
    ...(wave.acknowledged > 0 ? [`${wave.acknowledged} acknowledged`] : []),
    ...(aside > 0 ? [`${aside} more in held strata, not counted`] : []),
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

function failures({ status }: ReportInput): readonly Block[] {
  const rows = status.causes.flatMap((group) => [
    ...group.causes.map(({ text, count, strata, otherStrata, names }) => {
      const more = otherStrata.strata > 0 ? [`${otherStrata.strata} more`] : [];
      return [
        group.of,
        String(count),
        text,
        [...strata.map(({ label }) => label), ...more].join('; '),
        names.join(', '),
      ];
    }),
    ...(group.others.count === 0 ? [] : [[group.of, String(group.others.count), 'other causes', '', '']]),
  ]);
  if (rows.length === 0)
    return [headingBlock('Failures'), textBlock('No upgrade failed, and none was withdrawn.')];
  const { sharedAttribute: shared } = status;
  return [
    headingBlock('Failures by cause'),
    ...(shared === null ? [] : [textBlock(`In common: ${sharedAttributeText(shared)}.`)]),
    tableBlock(['outcome', 'collectors', 'cause', 'strata', 'such as'], rows),
  ];
}

function strata({ figures, groups, status }: ReportInput): readonly Block[] {
  const rows = [...figures.strata].map(([index, group]) => [
    groups.strata[index]?.label ?? '',
    String(group.planned),
    String(group.ends.succeeded),
    String(failed(group)),
    String(group.ends.withdrawn),
    durationText(group),
  ]);
  const held = status.strata.held.map(({ label, reason, by, at }) => [label, instant(at), by, reason]);
  return [
    headingBlock('Strata'),
    tableBlock(['stratum', 'planned', 'succeeded', 'failed', 'withdrawn', 'one upgrade'], rows, 'strata'),
    ...(held.length === 0
      ? []
      : [
          headingBlock('Held strata'),
          tableBlock(['stratum', 'since', 'by', 'reason, as it was then'], held),
        ]),
  ];
}

/** What operators did to the whole rollout: approvals, pauses, resumes, the end, holds and releases. */
function people({ events, holdings, status }: ReportInput): readonly Block[] {
  const acts = [
    ...events
      // The holdings name the stratum.
      .filter(({ event }) => !event.startsWith('upgrade.') && !event.startsWith('stratum.'))
      .map(({ wave, ...act }) => ({ ...act, about: wave === undefined ? '' : `: wave ${wave}` })),
    ...holdings.flatMap((entry) => {
      const about = heldSubject(entry, holdings, status);
      return about === undefined ? [] : [{ ...entry, about: `: ${about}` }];
    }),
  ];
  const rows = acts
    .filter(({ event, by }) => isPerson(by, event))
    .sort((one, other) => one.at - other.at)
    .map(({ at, event, by, about, reason }) => {
      const what = stateText(event.slice(event.indexOf('.') + 1));
      return [instant(at), by, `${what}${about}`, reason];
    });
  const nobody =
    status.rollbackOf === null
      ? 'No operator acted.'
      : `Who asked for it is in the report of ${status.rollbackOf}.`;
  if (rows.length === 0) return [headingBlock('People'), textBlock(nobody)];
  return [headingBlock('People'), tableBlock(['when', 'who', 'what', 'reason'], rows, 'actions')];
}

// A hold of a group reaches its rollouts within seconds.
const sameActMs: DurationMs = 60_000;

/** What was held or released, if it concerns this rollout: a stratum of it, or a group or its build while it ran. */
function heldSubject(
  { event, subject, at }: AuditEntry,
  holdings: readonly AuditEntry[],
  { id, targetBuild, createdAt, endedAt }: RolloutStatus,
): string | undefined {
  const ofRollout = ` of ${id}`;
  if (event.startsWith('stratum.'))
    return subject.endsWith(ofRollout) ? heldName(subject.slice(0, -ofRollout.length)) : undefined;
  if (at < createdAt || (endedAt !== null && at > endedAt)) return undefined;
  if (event.startsWith('build.')) return subject === targetBuild ? `build ${subject}` : undefined;
  if (!event.startsWith('group.')) return undefined;
  // The same act on the stratum that the group is here.
  const isNamed = holdings.some(
    (each) =>
      each.event === event.replace('group.', 'stratum.') &&
      each.subject === `${subject}${ofRollout}` &&
      Math.abs(each.at - at) < sameActMs,
  );
  return isNamed ? undefined : `group ${subject}`;
}

function isPerson(by: string, event: string): boolean {
  const isDaemonStart = event === 'rollout.planned' && by === 'start';
  return !reservedNames.includes(by) && !isDaemonStart;
}

/** The events of the rollout itself and all actions of operators. */
function actions({ events }: ReportInput): readonly Block[] {
  const rows = events
    .filter(({ event, by }) => !event.startsWith('upgrade.') || by !== 'daemon')
    .map(({ at, event, by, wave, collectorName, reason }) => {
      const subject = collectorName ?? (wave === undefined ? '' : `wave ${wave}`);
      return [instant(at), by, event, subject, reason];
    });
  return [headingBlock('Events'), tableBlock(['when', 'by', 'event', 'about', 'reason'], rows, 'events')];
}

function leftBehind({ status, figures: { missed, missedTotal } }: ReportInput): readonly Block[] {
  const stays = [
    ...status.leftOut.map(({ reason, count }) => ['left out of the plan', String(count), reason, '']),
    ...status.leftBehind.map(({ reason, count, names }) => [
      'not rolled back',
      String(count),
      reason,
      names.join(', '),
    ]),
  ];
  const rows = missed.map(({ id, name, build, wave, state, at, reason }) => [
    String(id),
    name,
    build,
    status.waves[wave]?.name ?? '',
    stateText(state),
    instant(at),
    reason,
  ]);
  const more = missedTotal - missed.length;
  return [
    headingBlock('Left behind'),
    ...(stays.length === 0 ? [] : [tableBlock(['why', 'collectors', 'reason', 'such as'], stays)]),
    ...(rows.length === 0
      ? [textBlock('Every planned collector was upgraded.')]
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

function failed({ ends }: GroupFigures): number {
  return sumOf(failedStates, (state) => ends[state]);
}

function durationText({ durations }: GroupFigures): string {
  if (durations === null) return '';
  return `median ${formatDuration(durations.medianMs)}, p95 ${formatDuration(durations.p95Ms)}`;
}

/** `2026-11-22 01:37 UTC`; empty for what has not happened. */
function instant(at: EpochMs | null): string {
  return at === null ? '' : utcText(at);
}

export function headingBlock(words: string): Block {
  return { kind: 'heading', text: words };
}

export function textBlock(words: string): Block {
  return { kind: 'text', text: words };
}

export function chartBlocks(drawn: ChartElement | undefined): readonly Block[] {
  return drawn === undefined ? [] : [{ kind: 'chart', chart: drawn }];
}

/** `2026-11-22 01:37 UTC` */
export function utcText(at: EpochMs): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

const inUtc = { zone: utc.name, localOf: utc.localOf };

/** @param fold a word for the rows, or when they are folded, too */
export function tableBlock(
  columns: readonly string[],
  rows: ReadonlyArray<readonly string[]>,
  fold: string | TableFold = usualFold,
): Block {
  return {
    kind: 'table',
    columns,
    rows,
    fold: typeof fold === 'string' ? { ...usualFold, name: fold } : fold,
  };
}
