import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Explored, exploreScenario } from './explore-scenario.ts';
import { plantedOrderNames, plantedOrders } from './planted-orders.ts';
import { scenarios } from './scenarios.ts';

const usage = `npm run explore                    every order of moves in small worlds: more than a million states
npm run explore -- --short         the first states of each, and every planted bug: in less than a minute
  --scenario NAME   one of: ${scenarios.map(({ name }) => name).join(', ')}
  --states N        at most so many states of each
  --plant BUG       with a bug put in on purpose: ${plantedOrderNames.join(', ')}; or all`;

/** A scenario that is explored in a process of its own. */
interface Task {
  readonly scenario: string;
  readonly planted: string | null;
  readonly statesMax: number;
}

const statesOf = { whole: 120_000, short: 2_000, planted: 20_000 };
const depthMax = 200;
// A prime, so that no kind of move is left out.
const finishEvery = { whole: 97, planted: 11 };
const processes = 2;
const heapMb = 6_000;

const say = (line: string) => process.stdout.write(`${line}\n`);

const asTask = process.argv[2]?.startsWith('{') ? (JSON.parse(process.argv[2]) as Task) : undefined;
if (asTask === undefined) process.exitCode = await main();
else process.send?.(await explore(asTask));

function explore({ scenario: name, planted, statesMax }: Task): Promise<Explored> {
  const scenario = scenarios.find((each) => each.name === name);
  if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
  const bug = plantedOrderNames.find((each) => each === planted) ?? null;
  const every = bug === null ? finishEvery.whole : finishEvery.planted;
  return exploreScenario(scenario, { statesMax, depthMax, finishEvery: every, planted: bug });
}

async function main(): Promise<number> {
  const { values } = readOptions();
  if (values.help) {
    say(usage);
    return 0;
  }
  const states = Number(values.states ?? (values.short ? statesOf.short : statesOf.whole));
  const chosen = scenarios.filter(({ name }) => (values.scenario ?? name) === name);
  const planted = plantedOrderNames.filter(
    (bug) => values.plant === bug || values.plant === 'all' || values.short,
  );
  if (chosen.length === 0 || (values.plant !== undefined && planted.length === 0)) {
    process.stderr.write(`There is no such scenario or bug.\n${usage}\n`);
    return 2;
  }
  const missed = await findPlanted(planted);
  return values.plant === undefined ? missed + (await exploreAll(chosen, states)) : missed;
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        help: { type: 'boolean', default: false },
        short: { type: 'boolean', default: false },
        scenario: { type: 'string' },
        states: { type: 'string' },
        plant: { type: 'string' },
      },
    });
  } catch (error) {
    process.stderr.write(`${String(error)}\n${usage}\n`);
    process.exit(2);
  }
}

/** @returns 1 when a promise was broken */
async function exploreAll(chosen: typeof scenarios, statesMax: number): Promise<number> {
  const begunAt = performance.now();
  const all = await inProcesses(chosen.map(({ name }) => ({ scenario: name, planted: null, statesMax })));
  for (const explored of all) describe(explored);
  const sum = (figure: 'states' | 'transitions' | 'finished') =>
    all.reduce((total, each) => total + each[figure], 0);
  const seconds = Math.round((performance.now() - begunAt) / 1_000);
  say(
    `${sum('states')} states, ${sum('transitions')} transitions, ${sum('finished')} played to their end, ${seconds} s`,
  );
  return all.some(({ violation }) => violation !== null) ? 1 : 0;
}

function describe({ scenario, states, transitions, depth, isWhole, violation }: Explored): void {
  const reach = isWhole ? 'all there are' : `every order of ${depth} moves`;
  say(`${scenario.padEnd(16)} ${states} states, ${transitions} transitions, ${reach}`);
  if (violation === null) return;
  say(`  ${violation.promise}  ${violation.words}`);
  say(`  ${JSON.stringify(violation.trace)}`);
}

/** @returns 1 when a planted bug was not found */
async function findPlanted(planted: typeof plantedOrderNames): Promise<number> {
  const tasks = planted.map((bug) => ({
    scenario: plantedOrders[bug].scenario,
    planted: bug,
    statesMax: statesOf.planted,
  }));
  const all = await inProcesses(tasks);
  for (const [index, { states, violation }] of all.entries()) {
    const found = violation?.promise === plantedOrders[planted[index] ?? 'slotTooMany'].promise;
    const words = `${violation?.promise}  ${violation?.words}, after ${violation?.trace.length} moves`;
    say(`${(planted[index] ?? '').padEnd(22)} ${found ? words : 'not found'} (${states} states)`);
  }
  return all.every(({ violation }) => violation !== null) ? 0 : 1;
}

/** A few at a time, in their order. */
async function inProcesses(tasks: readonly Task[]): Promise<readonly Explored[]> {
  const results: Explored[] = [];
  const open = [...tasks.entries()];
  const work = async (): Promise<void> => {
    for (let next = open.shift(); next !== undefined; next = open.shift())
      results[next[0]] = await inProcess(next[1]);
  };
  await Promise.all(Array.from({ length: processes }, work));
  return results;
}

function inProcess(task: Task): Promise<Explored> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(task)], {
      execArgv: [...process.execArgv, `--max-old-space-size=${heapMb}`],
    });
    child.on('message', (explored) => resolve(explored as Explored));
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`${task.scenario} ended with code ${code}`)));
  });
}
