import { goals } from '../goals.ts';
import type { Part } from '../part.ts';
import { figureRow, fixed, mebibytes, table } from '../report.ts';
import { type LargeFigures, measureLargeFleet } from './large-fleet.ts';

const sizes = { full: [100_000, 10_000, 1_000], short: [1_000] } as const;
const keptRollouts = 1_000;

/** What grows with the fleet: a daemon in the middle of a rollout, with a history behind it, largest fleet first. */
export const largePart: Part = async ({ isShort, tell }) => {
  const fleets: LargeFigures[] = [];
  for (const collectors of isShort ? sizes.short : sizes.full) {
    tell(`a rollout of ${collectors} collectors, ${keptRollouts} ended ones behind it`);
    fleets.push(await measureLargeFleet({ collectors, keptRollouts, isShort }));
  }
  const row = (
    label: string,
    figure: (figures: LargeFigures) => number,
    format: (value: number) => string,
    atMost?: number,
  ) => figureRow(label, fleets.map(figure), format, atMost);
  const milliseconds = fixed(1);
  return {
    data: fleets,
    tables: [
      table(
        `a daemon in the middle of a rollout, ${keptRollouts} ended rollouts behind it; answers over HTTP`,
        fleets.map(({ collectors }) => `${collectors} collectors`),
        [
          row('start until planned, reading the service (s)', ({ plannedMs }) => plannedMs / 1_000, fixed(1)),
          ...(fleets[0]?.reads ?? []).flatMap(({ name }, index) => [
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
      ),
    ],
    broken: [],
  };
};
