import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { DurationMs } from '../../src/base/time.ts';
import { startProcess } from '../support/redis/start-test-redis.ts';
import { brokenIn, runBlastRadius } from './blast-radius/blast-radius.ts';
import { renderBlastRadius } from './blast-radius/report-blast-radius.ts';
import { type Contest, hold, type Standing } from './contest.ts';
import type { ContestantName } from './contestant.ts';
import { fullContests, fullPlans, shortContests, shortPlans } from './contests.ts';
import { runInLanes } from './lanes.ts';
import { type PlanningFigures, runPlanning } from './planning-process.ts';
import { type BenchResult, renderReport } from './report.ts';
import { runServiceReads } from './service-reads.ts';

const usage = `npm run bench -- [blast-radius] [--short] [--json FILE]

Upgrades a simulated fleet three times, with upwave, a plain pool and a fixed-batch loop, and shows the three side by
side; then plans large fleets. Figures are ratios within one run. --short: under 40 seconds, and coarser.

blast-radius: instead, builds that break one part of a large fleet, on a virtual clock: how many collectors they harm
before upwave stops them, and before a random canary does. --short: fewer fleets.
`;

interface Program {
  readonly contests: readonly Contest[];
  readonly plans: readonly number[];
  /** Rivals that run at once: they need little of the machine. upwave runs alone, so that nobody disturbs it. */
  readonly lanes: number;
  /** How long the reference service is read from; 0 leaves that out. */
  readonly readMs: DurationMs;
}

const full: Program = { contests: fullContests, plans: fullPlans, lanes: 2, readMs: 10_000 };
const short: Program = { contests: shortContests, plans: shortPlans, lanes: 3, readMs: 0 };

/** Runs the benchmarks. @returns the exit code: 1 when a run broke a promise, whatever the figures */
async function bench(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { short: { type: 'boolean' }, json: { type: 'string' }, help: { type: 'boolean' } },
  });
  if (values.help === true) {
    process.stdout.write(usage);
    return 0;
  }
  const [which, ...more] = positionals;
  if (which === 'blast-radius' && more.length === 0) return benchBlastRadius(values);
  if (which !== undefined) {
    process.stderr.write(usage);
    return 2;
  }
  const redis = await startProcess();
  try {
    const result = await runAll(values.short === true ? short : full, redis);
    process.stdout.write(renderReport(result));
    writeJson(result, values.json);
    return result.contests.some(({ standings }) => standings.some(({ broken }) => broken.length > 0)) ||
      result.plans.some(({ broken }) => broken.length > 0)
      ? 1
      : 0;
  } finally {
    await redis.close();
  }
}

async function benchBlastRadius(values: {
  readonly short?: boolean;
  readonly json?: string;
}): Promise<number> {
  const result = await runBlastRadius(values.short === true ? 'short' : 'full', tell);
  process.stdout.write(renderBlastRadius(result));
  writeJson(result, values.json);
  return brokenIn(result).length > 0 ? 1 : 0;
}

function writeJson(result: object, file: string | undefined): void {
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
}

async function runAll(
  { contests, plans, lanes, readMs }: Program,
  redis: { readonly url: string; readonly kind: string },
): Promise<BenchResult> {
  const machine = { cores: availableParallelism(), loadBefore: loadavg()[0] ?? 0 };
  const play = async (contest: Contest, name: ContestantName): Promise<Standing> => {
    tell(`${name}, ${contest.collectors} collectors, ${contest.slots} slots`);
    return hold(contest, name, redis.url);
  };
  const ours: Standing[] = [];
  for (const contest of contests) ours.push(await play(contest, 'upwave'));
  const figures: PlanningFigures[] = [];
  for (const collectors of plans) {
    tell(`planning ${collectors} collectors`);
    figures.push(await runPlanning({ collectors, redisUrl: redis.url }));
  }
  if (readMs > 0) tell('reading from the reference service');
  const reads = readMs > 0 ? await runServiceReads({ collectors: 10_000, durationMs: readMs }) : undefined;
  // The fixed batches take longest, so they begin.
  const batches = contests.map((contest) => () => play(contest, 'fixedBatch'));
  const pools = contests.map((contest) => () => play(contest, 'plainPool'));
  const rivals = await runInLanes([...batches, ...pools], lanes);
  return {
    machine,
    redis: redis.kind,
    contests: contests.map((contest, index) => ({
      contest,
      standings: [ours[index], rivals[contests.length + index], rivals[index]].filter(
        (standing) => standing !== undefined,
      ),
    })),
    plans: figures,
    ...(reads === undefined ? {} : { reads }),
  };
}

function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}

process.exitCode = await bench();
