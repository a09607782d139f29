import { parseArgs } from 'node:util';
import { minimise } from './minimise.ts';
import { describePairs, missingOf } from './pairs/describe-pairs.ts';
import { isFoundInMemory, type PlantedBug, plantedBugs } from './planted-bugs.ts';
import { playIn } from './play-in-processes.ts';
import type { Seeds } from './play-seeds.ts';
import { runNight } from './run-night.ts';
import { changeSetup, drawSetup, type SetupChanges } from './setup.ts';
import { openRedisForNights, startRedisForNights } from './store/open-redis.ts';
import type { RedisForNight } from './store/redis-stores.ts';
import { addTotals, describeTotals } from './totals.ts';

const usage = `npm run simulate -- --seeds N [--from S] [--workers 2]   plays N nights and reports
npm run simulate -- --seed S [--trace]                    plays one again, and tells all that happened
npm run simulate -- --minimise S                          the smallest night that still breaks the same promise
  --pairs           with --seeds: names the pairs that no night met; the last twentieth of the nights want those that the
                    others did not meet
  --store redis     on the scripts of a real Redis, whose answers are compared with the model of the store
  --plant BUG       with a bug put in on purpose: ${plantedBugs.join(', ')}; or all
  --changes JSON    e.g. '{"collectors":5,"without":["crash"]}'`;

const options = {
  help: { type: 'boolean', default: false },
  seeds: { type: 'string' },
  from: { type: 'string', default: '1' },
  workers: { type: 'string', default: '2' },
  seed: { type: 'string' },
  trace: { type: 'boolean', default: false },
  pairs: { type: 'boolean', default: false },
  minimise: { type: 'string' },
  store: { type: 'string', default: 'memory' },
  plant: { type: 'string' },
  changes: { type: 'string', default: '{}' },
} as const;
const { values, changes } = readOptions();
const say = (line: string) => process.stdout.write(`${line}\n`);

process.exitCode = await main();

/** Ends the process with the usage where the command line is not understood. */
function readOptions() {
  try {
    const { values: given } = parseArgs({ options });
    return { values: given, changes: JSON.parse(given.changes) as SetupChanges };
  } catch (error) {
    process.stderr.write(`${String(error)}\n${usage}\n`);
    process.exit(2);
  }
}

async function main(): Promise<number> {
  if (values.help) {
    say(usage);
    return 0;
  }
  if (values.store !== 'memory' && values.store !== 'redis')
    return refuse(`there is no store ${values.store}`);
  if (values.store === 'memory') return play(undefined);
  const server = await startRedisForNights();
  try {
    return await play(server.url);
  } finally {
    await server.close();
  }
}

/** @param redisUrl plays on this Redis; on the model of the store without one */
async function play(redisUrl: string | undefined): Promise<number> {
  if (values.plant === 'all') return findAll(redisUrl);
  const plant = plantedBugs.find((bug) => bug === values.plant) ?? null;
  if (values.plant !== undefined && plant === null) return refuse(`there is no bug ${values.plant} to plant`);
  if (values.seeds !== undefined) return playMany(Number(values.seeds), { plant, redisUrl });
  const seed = Number(values.seed ?? values.minimise);
  if (Number.isNaN(seed)) return refuse(usage);
  const redis = redisUrl === undefined ? undefined : openRedisForNights(redisUrl);
  const how = { plant, redis: redis?.ofNight(seed) };
  const code = await (values.seed === undefined ? shrink(seed, how) : replay(seed, how));
  await redis?.close();
  return code;
}

function refuse(words: string): number {
  process.stderr.write(`${words}\n`);
  return 2;
}

interface HowToPlay {
  readonly plant: PlantedBug | null;
  readonly redis: RedisForNight | undefined;
}

async function replay(seed: number, how: HowToPlay): Promise<number> {
  const setup = changeSetup(drawSetup(seed), changes);
  if (values.trace) say(JSON.stringify(setup));
  const trace = (at: number, who: string, words: string) =>
    say(`${new Date(at).toISOString()} ${who}  ${words}`);
  const night = await runNight(setup, { ...how, ...(values.trace ? { trace } : {}) });
  for (const { promise, words, at } of night.violations)
    say(`${new Date(at).toISOString()}  ${promise}  ${words}`);
  say(
    `seed ${seed}: ${night.rollouts} rollouts, ${night.events} events, ${night.violations.length} violations`,
  );
  return night.violations.length === 0 ? 0 : 1;
}

async function shrink(seed: number, how: HowToPlay): Promise<number> {
  const found = await minimise(seed, changes, how, (words) => process.stderr.write(`${words}\n`));
  if (found === undefined) {
    say(`seed ${seed} breaks no promise`);
    return 0;
  }
  const { violation, setup } = found;
  const on = [...Object.entries(setup.faults), ...Object.entries(setup.features)].flatMap(([kind, is]) =>
    is === 0 || is === false ? [] : [kind],
  );
  say(`${violation.promise}  ${violation.words}`);
  say(
    `${setup.collectors} collectors, ${setup.daemons} daemons, ${setup.words} words of ${setup.operators}, ${setup.troubleMs / 3_600_000} h; ${on.join(' ')}`,
  );
  say(
    `npm run simulate -- --store ${values.store} --seed ${seed} --trace --changes '${JSON.stringify(found.changes)}'`,
  );
  return 1;
}

/** Each planted bug has to be found. */
async function findAll(redisUrl: string | undefined): Promise<number> {
  let missed = 0;
  for (const plant of plantedBugs.filter((bug) => redisUrl !== undefined || isFoundInMemory(bug))) {
    const count = Number(values.seeds ?? '300');
    const { totals } = await playIn(1, {
      from: Number(values.from),
      count,
      plant,
      changes,
      untilFound: true,
      redisUrl,
    });
    const [found] = totals.violations;
    if (found === undefined) missed += 1;
    say(
      `${plant.padEnd(22)} ${found === undefined ? `not found in ${totals.nights} nights` : `seed ${found.seed}: ${found.promise}  ${found.words}`}`,
    );
  }
  return missed === 0 ? 0 : 1;
}

async function playMany(
  count: number,
  { plant, redisUrl }: Pick<Seeds, 'plant' | 'redisUrl'>,
): Promise<number> {
  const begunAt = performance.now();
  const from = Number(values.from);
  const playSome = (seeds: Pick<Seeds, 'from' | 'count' | 'changes'>) =>
    playIn(Number(values.workers), { ...{ plant, redisUrl }, ...seeds, untilFound: false });
  const last = values.pairs ? Math.floor(count / 20) : 0;
  const first = await playSome({ from, count: count - last, changes });
  const { totals } = first;
  let { cpuMs } = first;
  const wants = missingOf(totals.met);
  if (last > 0) {
    const wanting = wants.length === 0 ? changes : { ...changes, wants };
    const played = await playSome({ from: from + count - last, count: last, changes: wanting });
    addTotals(totals, played.totals);
    cpuMs += played.cpuMs;
  }
  for (const line of describeTotals(totals, { tookMs: performance.now() - begunAt, cpuMs })) say(line);
  if (values.pairs) {
    for (const line of describePairs(totals.met)) say(line);
    if (wants.length > 0)
      say(`from seed ${from + count - last} with --changes '${JSON.stringify({ ...changes, wants })}'`);
  }
  return totals.violations.length === 0 ? 0 : 1;
}
