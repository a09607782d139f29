import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { playSeed, type Scene, type SeedResult } from '../../rehearsal/play/play-seed.ts';
import type { Policy } from '../../rollout/model/policy.ts';

/** One order for a process: the seeds to play. */
export interface SeedOrder {
  readonly policy: Policy;
  readonly seed: number;
}

/** Plays seeds in several processes. */
export interface SeedPool {
  /** Results in the order of the seeds. */
  play(policy: Policy, seeds: readonly number[]): Promise<readonly SeedResult[]>;
  close(): void;
}

const processesMax = 16;

/** Starting a process takes as long as playing a rollout of this many collectors. */
const worthProcess = 5_000;

/** @param upgrades how many all seeds play together; few of them are played in this process */
export function makeSeedPool(scene: Scene, upgrades: number): SeedPool {
  const size = Math.min(availableParallelism(), processesMax, Math.floor(upgrades / worthProcess));
  if (size < 2) {
    return {
      play: async (policy, seeds) => {
        const results: SeedResult[] = [];
        for (const seed of seeds) results.push(await playSeed(scene, policy, seed));
        return results;
      },
      close: () => {},
    };
  }
  const children = Array.from({ length: size }, () => startChild(scene));
  return {
    play: async (policy, seeds) => {
      const results = new Map<number, SeedResult>();
      const waiting = [...seeds];
      const work = async (child: ChildProcess) => {
        for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift())
          results.set(seed, await ask(child, { policy, seed }));
      };
      await Promise.all(children.map(work));
      return seeds.flatMap((seed) => results.get(seed) ?? []);
    },
    close: () => {
      for (const child of children) child.kill();
    },
  };
}

/** A played rollout leaves only garbage. A larger young generation makes collections rarer. */
const youngSpace = '--max-semi-space-size=64';

function startChild(scene: Scene): ChildProcess {
  const { path, execArgv } = entryFile();
  // The process needs none of our environment, which may hold secrets.
  const child = fork(path, [], { execArgv: [...execArgv, youngSpace], serialization: 'advanced', env: {} });
  child.send(scene);
  return child;
}

function ask(child: ChildProcess, order: SeedOrder): Promise<SeedResult> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error(`the process that played seed ${order.seed} has ended`));
    child.once('exit', onExit);
    child.once('message', (result) => {
      child.off('exit', onExit);
      resolve(result as SeedResult);
    });
    child.send(order);
  });
}

/** When compiled, the entry file is beside this one. From source (tests, development) it needs the TypeScript loader. */
function entryFile(): { readonly path: string; readonly execArgv: readonly string[] } {
  const self = fileURLToPath(import.meta.url);
  if (!self.endsWith('.ts')) return { path: self.replace('seed-pool.js', 'seed-process.js'), execArgv: [] };
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  return { path: self.replace('seed-pool.ts', 'seed-process.ts'), execArgv: ['--import', loader] };
}
