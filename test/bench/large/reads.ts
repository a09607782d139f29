import type { Part } from '../part.ts';
import { figureRow, fixed, mebibytes, table } from '../report.ts';
import { runServiceReads, serviceReadGoals } from './service-reads.ts';

/** Reads from the reference service at a steady rate. */
export const readsPart: Part = async ({ isShort, tell }) => {
  tell('reading from the reference service');
  const reads = await runServiceReads({ collectors: 10_000, durationMs: isShort ? 1_000 : 10_000 });
  const { service, trivial, collectors, requestsPerSecond } = reads;
  const of = (figure: (server: typeof service) => number) => [service, trivial].map(figure);
  return {
    data: reads,
    tables: [
      table(
        `${requestsPerSecond} mixed reads/s, ${collectors} collectors, beside a server that only repeats the bytes`,
        ['reference service', 'bytes only'],
        [
          figureRow(
            'answered in, median (ms)',
            of(({ medianMs }) => medianMs),
            fixed(1),
          ),
          figureRow(
            'answered in, p99 (ms)',
            of(({ p99Ms }) => p99Ms),
            fixed(1),
            serviceReadGoals.p99Ms,
          ),
          figureRow(
            'memory, peak (MiB)',
            of(({ rssPeakBytes }) => mebibytes(rssPeakBytes)),
            fixed(0),
            serviceReadGoals.mebibytes,
          ),
        ],
      ),
    ],
    broken: [],
  };
};
