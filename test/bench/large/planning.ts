import { startProcess } from '../../support/redis/start-test-redis.ts';
import { goals } from '../goals.ts';
import type { Part } from '../part.ts';
import { figureRow, fixed, mebibytes, type Row, table } from '../report.ts';
import { type PlanningFigures, runPlanning } from './planning-process.ts';

const sizes = { full: [100_000, 10_000, 1_000], short: [10_000] } as const;

/** Plans and freezes fleets, largest first. */
export const planningPart: Part = async ({ isShort, tell }) => {
  const redis = await startProcess();
  try {
    const plans: PlanningFigures[] = [];
    for (const collectors of isShort ? sizes.short : sizes.full) {
      tell(`planning ${collectors} collectors`);
      plans.push(await runPlanning({ collectors, redisUrl: redis.url }));
    }
    return {
      data: plans,
      tables: [renderPlans(plans, redis.kind)],
      broken: plans.flatMap(({ collectors, broken }) =>
        broken.map((text) => `planning ${collectors}: ${text}`),
      ),
    };
  } finally {
    await redis.close();
  }
};

function renderPlans(plans: readonly PlanningFigures[], redisKind: string): string {
  const row = (
    label: string,
    figure: (figures: PlanningFigures) => number,
    format: (value: number) => string,
    atMost?: number,
  ): Row => figureRow(label, plans.map(figure), format, atMost);
  return table(
    `planning, kept in ${redisKind}; goals are for 100,000 collectors`,
    plans.map(({ collectors }) => `${collectors} collectors`),
    [
      row('planned in (s)', ({ planMs }) => planMs / 1_000, fixed(2), goals.planMs / 1_000),
      row('longest turn of the event loop (ms)', ({ longestTurn }) => longestTurn.ms, fixed(0), goals.turnMs),
      row('its CPU time, at most (ms)', ({ longestTurn }) => longestTurn.cpuMs, fixed(0)),
      row(
        'memory of its process, peak (MiB)',
        ({ rssPeakBytes }) => mebibytes(rssPeakBytes),
        fixed(0),
        goals.planMebibytes,
      ),
      row('frozen in Redis in (s)', ({ freezeMs }) => freezeMs / 1_000, fixed(2)),
      row('status, median (ms)', ({ statusMs }) => statusMs.median, fixed(2)),
      row('status, p95 (ms)', ({ statusMs }) => statusMs.p95, fixed(2), goals.readMs),
    ],
  );
}
