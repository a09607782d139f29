import { serviceLimits } from '../../../src/contract/collector-management/limits.ts';
import { goals } from '../goals.ts';
import { figureRow, fixed, mebibytes, percent, table } from '../report.ts';
import type { Contest, Figures, Standing } from './contest.ts';
import type { ContestantName } from './contestant.ts';

export const contestantTitles: Readonly<Record<ContestantName, string>> = {
  upwave: 'upwave',
  plainPool: 'plain pool',
  fixedBatch: 'fixed batch',
};

/** What each contestant came to; upwave first, by which the goals are judged. */
export function renderContest(contest: Contest, standings: readonly Standing[], runs: number): string {
  const { binds, collectors, slots, speed, durations } = contest;
  const rate = serviceLimits.requestsPerSecond;
  const head =
    `${binds} ${binds === 'rate' ? 'binds' : 'bind'}: ${collectors} collectors, ${slots} slots, ${rate} requests/s, ` +
    `upgrades of ${durations.median} (95 % under ${durations.p95}); time ${speed} times as fast, ` +
    `times are the service's; ${runs === 1 ? 'one run' : `median of ${runs} runs`}`;
  const row = (
    label: string,
    figure: (figures: Figures) => number,
    format: (value: number) => string,
    atMost?: number,
  ) =>
    figureRow(
      label,
      standings.map(({ figures }) => figure(figures)),
      format,
      atMost,
    );
  const seconds = fixed(1);
  const slotsBind = binds === 'slots';
  const isMixed = contest.slowTimes !== undefined;
  // Greedy in its own order says little where the order is what matters.
  const greedyMax = isMixed ? undefined : contest.overMax;
  return table(
    head,
    standings.map(({ name }) => contestantTitles[name]),
    [
      row('makespan (min)', ({ makespanMs }) => makespanMs / 60_000, fixed(1)),
      slotsBind
        ? row('makespan over zero-delay greedy', ({ overGreedy }) => overGreedy, fixed(3), greedyMax)
        : row(
            'makespan over what rate and durations allow',
            ({ overBound }) => overBound,
            fixed(3),
            contest.overMax,
          ),
      ...(isMixed
        ? [row('makespan over work / slots', ({ overWork }) => overWork, fixed(3), contest.overMax)]
        : []),
      row('until all is verified (min)', ({ doneMs }) => doneMs / 60_000, fixed(1)),
      row(
        'requests per upgrade',
        ({ requestsPerUpgrade }) => requestsPerUpgrade,
        fixed(2),
        goals.requestsPerUpgrade[binds],
      ),
      row('answers 429, most in a run', ({ throttled }) => throttled, fixed(0), goals.throttled),
      row('end known after, median (s)', ({ seenDelayMedianMs }) => seenDelayMedianMs / 1_000, seconds),
      row('end known after, p95 (s)', ({ seenDelayP95Ms }) => seenDelayP95Ms / 1_000, seconds),
      row(
        'median, of the median duration',
        ({ seenDelayMedianShare }) => seenDelayMedianShare,
        percent(1),
        goals.seenDelayShare.median,
      ),
      row(
        'p95, of the median duration',
        ({ seenDelayP95Share }) => seenDelayP95Share,
        percent(1),
        goals.seenDelayShare.p95,
      ),
      ...(contest.slots < contest.collectors
        ? [
            row('slot refilled after, median (s)', ({ refillMedianMs }) => refillMedianMs / 1_000, seconds),
            row('slot refilled after, p95 (s)', ({ refillP95Ms }) => refillP95Ms / 1_000, seconds),
          ]
        : []),
      row('tasks at once, most', ({ tasksInFlightMax }) => tasksInFlightMax, fixed(0)),
      row('CPU of its process (s)', ({ cpuSeconds }) => cpuSeconds, fixed(1)),
      row('memory, peak (MiB)', ({ rssPeakBytes }) => mebibytes(rssPeakBytes), fixed(0)),
    ],
  );
}
