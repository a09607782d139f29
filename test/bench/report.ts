import { serviceLimits } from '../../src/contract/collector-management/limits.ts';
import type { Contest, Standing } from './contest.ts';
import type { ContestantName } from './contestant.ts';
import { goals } from './goals.ts';
import type { PlanningFigures } from './planning-process.ts';
import { type ServiceReadFigures, serviceReadGoals } from './service-reads.ts';

export interface BenchResult {
  /** What else the machine was doing before the run began: with a load near its cores, figures are worth little. */
  readonly machine: { readonly cores: number; readonly loadBefore: number };
  readonly redis: string;
  readonly contests: ReadonlyArray<{ readonly contest: Contest; readonly standings: readonly Standing[] }>;
  readonly plans: readonly PlanningFigures[];
  readonly reads?: ServiceReadFigures;
}

/** A line of a table. */
export interface Row {
  readonly label: string;
  readonly cells: readonly string[];
  /** Beside the figures: the goal, and whether the first cell meets it. */
  readonly goal?: string;
}

const contestantTitles: Readonly<Record<ContestantName, string>> = {
  upwave: 'upwave',
  plainPool: 'plain pool',
  fixedBatch: 'fixed batch',
};

/** The whole result as plain text. */
export function renderReport(result: BenchResult): string {
  const { cores, loadBefore } = result.machine;
  const parts = [
    `${cores} cores, load ${loadBefore.toFixed(1)} before the run`,
    ...result.contests.map(({ contest, standings }) => renderContest(contest, standings)),
    renderPlans(result),
    renderReads(result),
    renderBroken(result),
  ];
  return `\n${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function renderContest(contest: Contest, standings: readonly Standing[]): string {
  const { binds, collectors, slots, speed, durations } = contest;
  const rate = serviceLimits.requestsPerSecond;
  const head =
    `${binds} bind${binds === 'rate' ? 's' : ''}: ${collectors} collectors, ${slots} slots, ${rate} requests/s, upgrades of ${durations.median} ` +
    `(95 % under ${durations.p95}); time ${speed} times as fast, times are the service's`;
  const ours = standings.find(({ name }) => name === 'upwave');
  const goal = (
    figure: ((standing: Standing) => number) | undefined,
    limit: number,
  ): { goal: string } | object =>
    ours === undefined || figure === undefined
      ? {}
      : { goal: `<= ${limit} ${verdict(figure(ours) <= limit)}` };
  const row = (
    label: string,
    figure: (standing: Standing) => number,
    format: (value: number) => string,
    limit?: number,
  ): Row => ({
    label,
    cells: standings.map((standing) => format(figure(standing))),
    ...(limit === undefined ? {} : goal(figure, limit)),
  });
  return table(
    head,
    standings.map(({ name }) => contestantTitles[name]),
    [
      row('makespan (min)', ({ makespanMs }) => makespanMs / 60_000, fixed(1)),
      row(
        '  over zero-delay greedy',
        ({ makespanMs, greedyMs }) => makespanMs / greedyMs,
        fixed(3),
        binds === 'slots' ? goals.overGreedy : undefined,
      ),
      row('until all work is over (min)', ({ doneMs }) => doneMs / 60_000, fixed(1)),
      row(
        '  over its request bound',
        ({ doneMs, requestBoundMs }) => doneMs / requestBoundMs,
        fixed(3),
        binds === 'rate' ? goals.overRequestBound : undefined,
      ),
      row(
        'requests per upgrade',
        ({ requests, upgrades }) => requests / upgrades,
        fixed(2),
        goals.requestsPerUpgrade,
      ),
      row('answers 429', ({ throttled }) => throttled, fixed(0), goals.throttled),
      row('end seen after, median (s)', ({ seenDelayMs }) => seenDelayMs.median / 1_000, fixed(1)),
      row('end seen after, p95 (s)', ({ seenDelayMs }) => seenDelayMs.p95 / 1_000, fixed(1)),
      ...(contest.slots < contest.collectors
        ? [row('slot refilled after, median (s)', ({ refillMs }) => refillMs.median / 1_000, fixed(1))]
        : []),
      row('tasks at once, most', ({ tasksInFlightMax }) => tasksInFlightMax, fixed(0)),
      row('CPU of its process (s)', ({ cpuSeconds }) => cpuSeconds, fixed(1)),
      row('memory, peak (MiB)', ({ rssPeakBytes }) => mebibytes(rssPeakBytes), fixed(0)),
    ],
  );
}

function renderReads({ reads }: BenchResult): string {
  if (reads === undefined) return '';
  const { service, trivial, collectors, requestsPerSecond } = reads;
  const servers = [service, trivial];
  const cells = (figure: (of: typeof service) => string): readonly string[] => servers.map(figure);
  return table(
    `${requestsPerSecond} mixed reads/s, ${collectors} collectors, beside a server that only repeats the bytes`,
    ['reference service', 'bytes only'],
    [
      { label: 'answered in, median (ms)', cells: cells(({ medianMs }) => fixed(1)(medianMs)) },
      {
        label: 'answered in, p99 (ms)',
        cells: cells(({ p99Ms }) => fixed(1)(p99Ms)),
        goal: `< ${serviceReadGoals.p99Ms} ${verdict(service.p99Ms < serviceReadGoals.p99Ms)}`,
      },
      {
        label: 'memory, peak (MiB)',
        cells: cells(({ rssPeakBytes }) => fixed(0)(mebibytes(rssPeakBytes))),
        goal: `< ${serviceReadGoals.mebibytes} ${verdict(mebibytes(service.rssPeakBytes) < serviceReadGoals.mebibytes)}`,
      },
    ],
  );
}

function renderPlans({ plans, redis }: BenchResult): string {
  const largest = plans.at(-1);
  if (largest === undefined) return '';
  const row = (
    label: string,
    figure: (figures: PlanningFigures) => number,
    format: (value: number) => string,
    limit?: number,
  ): Row => ({
    label,
    cells: plans.map((figures) => format(figure(figures))),
    ...(limit === undefined ? {} : { goal: `< ${limit} ${verdict(figure(largest) < limit)}` }),
  });
  return table(
    `planning, kept in ${redis}; goals are for 100000 collectors`,
    plans.map(({ collectors }) => String(collectors)),
    [
      row('planned in (s)', ({ planMs }) => planMs / 1_000, fixed(2), goals.planMs / 1_000),
      row(
        'memory of its process, peak (MiB)',
        ({ rssPeakBytes }) => mebibytes(rssPeakBytes),
        fixed(0),
        goals.planMebibytes,
      ),
      row('frozen in Redis in (s)', ({ freezeMs }) => freezeMs / 1_000, fixed(2)),
      row('status, median (ms)', ({ statusMs }) => statusMs.median, fixed(2)),
      row('status, p95 (ms)', ({ statusMs }) => statusMs.p95, fixed(2), goals.statusMs),
    ],
  );
}

function renderBroken({ contests, plans }: BenchResult): string {
  const lines = [
    ...contests.flatMap(({ contest, standings }) =>
      standings.flatMap(({ name, broken }) =>
        broken.map((text) => `where ${contest.binds} binds, ${contestantTitles[name]}: ${text}`),
      ),
    ),
    ...plans.flatMap(({ collectors, broken }) => broken.map((text) => `planning ${collectors}: ${text}`)),
  ];
  return lines.length === 0 ? '' : `BROKEN\n${lines.join('\n')}`;
}

const labelWidth = 36;
const cellWidth = 13;

/** A table under its head, with the goals at the right. */
export function table(head: string, titles: readonly string[], rows: readonly Row[]): string {
  const line = (label: string, cells: readonly string[], goal: string) =>
    `${label.padEnd(labelWidth)}${cells.map((cell) => cell.padStart(cellWidth)).join('')}   ${goal}`.trimEnd();
  return [
    head,
    line('', titles, 'goal'),
    ...rows.map(({ label, cells, goal }) => line(label, cells, goal ?? '')),
  ].join('\n');
}

export function verdict(isMet: boolean): string {
  return isMet ? 'met' : 'not met';
}

export function fixed(digits: number): (value: number) => string {
  return (value) => value.toFixed(digits);
}

function mebibytes(bytes: number): number {
  return bytes / 2 ** 20;
}
