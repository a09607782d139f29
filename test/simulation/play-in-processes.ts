import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Seeds } from './play-seeds.ts';
import { addTotals, noTotals, type Totals } from './totals.ts';

/** Plays nights in so many processes. @returns what they came to, and the time of all cores */
export async function playIn(workers: number, { from, count, ...seeds }: Omit<Seeds, 'every'>) {
  const all = await Promise.all(
    Array.from({ length: workers }, (_, worker) =>
      playInProcess({
        ...seeds,
        from: from + worker,
        every: workers,
        count: Math.ceil((count - worker) / workers),
      }),
    ),
  );
  const totals = noTotals();
  for (const each of all) addTotals(totals, each.totals);
  return { totals, cpuMs: all.reduce((sum, each) => sum + each.cpuMs, 0) };
}

function playInProcess(seeds: Seeds): Promise<{ readonly totals: Totals; readonly cpuMs: number }> {
  const worker = fork(fileURLToPath(new URL('./simulate-worker.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
  });
  return new Promise((resolve, reject) => {
    let told: { readonly totals: Totals; readonly cpuMs: number } | undefined;
    worker.once('message', (message) => {
      told = message as typeof told;
    });
    worker.once('exit', (code) =>
      told === undefined || code !== 0 ? reject(new Error(`a worker ended with ${code}`)) : resolve(told),
    );
    worker.send(seeds);
  });
}
