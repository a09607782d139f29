import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Seeds } from './play-seeds.ts';
import { addTotals, noTotals, type Totals } from './totals.ts';

/** What a worker tells of each batch that it has played. */
export interface BatchPlayed {
  readonly totals: Totals;
  /** Of the worker, since it started. */
  readonly cpuMs: number;
}

// Nights differ a thousandfold in length: who is done with a few takes the next few, so that all end together.
const nightsPerBatch = 10;

// Most of what a night allocates is forgotten at once, and costs nothing where it is not collected before that.
const execArgv = ['--max-semi-space-size=64', '--enable-source-maps'];

/** Plays nights in so many processes. @returns what they came to, and the time of all cores */
export async function playIn(workers: number, { from, count, ...how }: Seeds) {
  const totals = noTotals();
  let next = from;
  const takeBatch = (): Seeds | undefined => {
    const left = from + count - next;
    if (left <= 0 || (how.untilFound && totals.violations.length > 0)) return undefined;
    const batch = { ...how, from: next, count: Math.min(nightsPerBatch, left) };
    next += batch.count;
    return batch;
  };
  const cpuMs = await Promise.all(
    Array.from({ length: workers }, () => playInProcess(takeBatch, (played) => addTotals(totals, played))),
  );
  return { totals, cpuMs: cpuMs.reduce((sum, each) => sum + each, 0) };
}

/** @returns the time that it took of a core */
function playInProcess(
  takeBatch: () => Seeds | undefined,
  onPlayed: (totals: Totals) => void,
): Promise<number> {
  // A worker is what this is: compiled by `npm run simulate`, and as it is written in tests.
  const isCompiled = import.meta.url.endsWith('.js');
  const file = new URL(`./simulate-worker.${isCompiled ? 'js' : 'ts'}`, import.meta.url);
  const worker = fork(fileURLToPath(file), {
    execArgv: isCompiled ? execArgv : [...execArgv, '--import', 'tsx'],
  });
  return new Promise((resolve, reject) => {
    let spentMs = 0;
    const giveBatch = (): void => {
      const batch = takeBatch();
      if (batch === undefined) worker.disconnect();
      else worker.send(batch);
    };
    worker.on('message', (message) => {
      const { totals, cpuMs } = message as BatchPlayed;
      spentMs = cpuMs;
      onPlayed(totals);
      giveBatch();
    });
    worker.once('error', reject);
    worker.once('exit', (code) =>
      code === 0 ? resolve(spentMs) : reject(new Error(`a worker ended with ${code}`)),
    );
    giveBatch();
  });
}
