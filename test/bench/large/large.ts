import { goals } from '../goals.ts';
import type { Part } from '../part.ts';
import { quantile } from '../quantile.ts';
import { figureRow, fixed, mebibytes, table } from '../report.ts';
import { type LargeFigures, measureLargeFleet, type ReadTimes } from './large-fleet.ts';

const fleets = {
  full: [
    { collectors: 100_000, accounts: 1 },
    { collectors: 100_000, accounts: 10 },
    { collectors: 10_000, accounts: 1 },
    { collectors: 1_000, accounts: 1 },
  ],
  short: [{ collectors: 1_000, accounts: 1 }],
} as const;
const keptRollouts = 1_000;
const runsDefault = 5;

/** What grows with the fleet: a daemon in the middle of a rollout, with a history behind it, largest fleet first. */
export const largePart: Part = async ({ isShort, runs = isShort ? 1 : runsDefault, collectors, tell }) => {
  const fleetsMeasured: LargeFigures[] = [];
  const all: LargeFigures[] = [];
  const wanted =
    collectors === undefined ? fleets[isShort ? 'short' : 'full'] : [{ collectors, accounts: 1 }];
  for (const fleet of wanted) {
    const measured: LargeFigures[] = [];
    for (let run = 1; run <= runs; run += 1) {
      tell(`${titleOf(fleet)}, ${keptRollouts} ended rollouts: run ${run} of ${runs}`);
      measured.push(await measureLargeFleet({ ...fleet, keptRollouts, isShort }));
    }
    all.push(...measured);
    fleetsMeasured.push(medianOf(measured));
  }
  return {
    data: { medians: fleetsMeasured, runs: all },
    tables: [renderFleets(fleetsMeasured, runs)],
    broken: [],
  };
};

function titleOf({ collectors, accounts }: Pick<LargeFigures, 'collectors' | 'accounts'>): string {
  return accounts === 1 ? `${collectors} collectors` : `${collectors} in ${accounts} accounts`;
}

/** Each figure is the median of all runs. */
function medianOf(runs: readonly LargeFigures[]): LargeFigures {
  const [first] = runs;
  if (first === undefined) throw new Error('a median needs a run');
  const median = (figure: (run: LargeFigures) => number) => quantile(runs.map(figure), 0.5);
  return {
    collectors: first.collectors,
    accounts: first.accounts,
    plannedMs: median(({ plannedMs }) => plannedMs),
    reads: first.reads.map(({ name }, index) => {
      const of = (figure: (times: ReadTimes) => number) =>
        median(({ reads }) => {
          const times = reads[index];
          return times === undefined ? Number.NaN : figure(times);
        });
      return {
        name,
        leastMs: of(({ leastMs }) => leastMs),
        medianMs: of(({ medianMs }) => medianMs),
        p95Ms: of(({ p95Ms }) => p95Ms),
      };
    }),
    restartMs: median(({ restartMs }) => restartMs),
    cpuMsPerUpgrade: median(({ cpuMsPerUpgrade }) => cpuMsPerUpgrade),
    commandsPerUpgrade: median(({ commandsPerUpgrade }) => commandsPerUpgrade),
    rssBytes: median(({ rssBytes }) => rssBytes),
    rssPeakBytes: median(({ rssPeakBytes }) => rssPeakBytes),
    redisBytes: median(({ redisBytes }) => redisBytes),
  };
}

function renderFleets(measured: readonly LargeFigures[], runs: number): string {
  const row = (
    label: string,
    figure: (figures: LargeFigures) => number,
    format: (value: number) => string,
    atMost?: number,
  ) => figureRow(label, measured.map(figure), format, atMost);
  const milliseconds = fixed(1);
  return table(
    `a daemon in the middle of a rollout, ${keptRollouts} ended rollouts behind it; answers over HTTP; medians of ${runs}`,
    measured.map(titleOf),
    [
      row('start until planned, reading the service (s)', ({ plannedMs }) => plannedMs / 1_000, fixed(1)),
      ...(measured[0]?.reads ?? []).flatMap(({ name }, index) => [
        row(`${name}, least (ms)`, ({ reads }) => reads[index]?.leastMs ?? Number.NaN, milliseconds),
        row(`${name}, median (ms)`, ({ reads }) => reads[index]?.medianMs ?? Number.NaN, milliseconds),
        row(
          `${name}, p95 (ms)`,
          ({ reads }) => reads[index]?.p95Ms ?? Number.NaN,
          milliseconds,
          goals.readMs,
        ),
      ]),
      row('restart until the next step (s)', ({ restartMs }) => restartMs / 1_000, fixed(1)),
      row('CPU of the daemon per upgrade (ms)', ({ cpuMsPerUpgrade }) => cpuMsPerUpgrade, fixed(0)),
      row('Redis commands per upgrade', ({ commandsPerUpgrade }) => commandsPerUpgrade, fixed(0)),
      row('daemon memory (MiB)', ({ rssBytes }) => mebibytes(rssBytes), fixed(0)),
      row(
        'daemon memory, peak (MiB)',
        ({ rssPeakBytes }) => mebibytes(rssPeakBytes),
        fixed(0),
        goals.planMebibytes,
      ),
      row('Redis memory (MiB)', ({ redisBytes }) => mebibytes(redisBytes), fixed(0)),
    ],
  );
}
