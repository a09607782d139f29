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
  /** Results in the order of the seeds. @param onPlayed called after each */
  play(policy: Policy, seeds: readonly number[], onPlayed: () => void): Promise<readonly SeedResult[]>;
  close(): void;
}

const processesMax = 16;

/** Starting a process takes half as long as playing a rollout of this many collectors. */
const worthProcess = 1_000;

export interface SeedPoolParts {
  readonly scene: Scene;
  /** How many all seeds play together. Few of them are played in this process. */
  readonly upgrades: number;
  /** Default: as many as there are CPUs. */
  readonly processes?: number;
  /** Starts a process. @throws when the machine has no room for one */
  readonly startProcess?: () => SeedProcess;
}

/** A process that plays seeds. Without `send` it could not be started. */
export type SeedProcess = Pick<ChildProcess, 'on' | 'once' | 'off' | 'kill'> & {
  readonly send?: ChildProcess['send'] | undefined;
};

export function makeSeedPool(parts: SeedPoolParts): SeedPool {
  const { scene, upgrades, processes = availableParallelism(), startProcess = forkProcess } = parts;
  const size = Math.min(processes, processesMax, Math.floor(upgrades / worthProcess));
  if (size < 2) {
    return {
      play: async (policy, seeds, onPlayed) => {
        const results: SeedResult[] = [];
        for (const seed of seeds) {
          results.push(await playSeed(scene, policy, seed));
          onPlayed();
        }
        return results;
      },
      close: () => {},
    };
  }
  const children = Array.from({ length: size }, () => startChild(scene, startProcess));
  return {
    play: async (policy, seeds, onPlayed) => {
      const results = new Map<number, SeedResult>();
      const waiting = [...seeds];
      const work = async (child: Child) => {
        for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
          results.set(seed, (await child.ask({ policy, seed })) ?? (await playSeed(scene, policy, seed)));
          onPlayed();
        }
      };
      await Promise.all(children.map(work));
      return seeds.flatMap((seed) => results.get(seed) ?? []);
    },
    close: () => {
      for (const child of children) child.end();
    },
  };
}

/** A played rollout leaves only garbage. A larger young generation makes collections rarer. */
const youngSpace = '--max-semi-space-size=64';

interface Child {
  /** Undefined when the process is gone, or was never there. The seed is played in this process then. */
  ask(order: SeedOrder): Promise<SeedResult | undefined>;
  end(): void;
}

/** A machine at its limit of processes or memory starts none, and one short of memory kills some. */
function startChild(scene: Scene, startProcess: () => SeedProcess): Child {
  let isGone = false;
  let answer: (result: SeedResult | undefined) => void = () => undefined;
  const lose = (): void => {
    isGone = true;
    answer(undefined);
  };
  const child = started(startProcess);
  const send = (message: Scene | SeedOrder): void => {
    if (child?.send === undefined) lose();
    else child.send(message, (error) => error !== null && lose());
  };
  child?.on('error', lose).on('exit', lose);
  child?.on('message', (result) => answer(result as SeedResult));
  send(scene);
  return {
    ask: (order) =>
      new Promise((resolve) => {
        answer = resolve;
        if (isGone) resolve(undefined);
        else send(order);
      }),
    end: () => void child?.kill(),
  };
}

/** Some errors of a start are thrown, others are reported by the process. */
function started(startProcess: () => SeedProcess): SeedProcess | undefined {
  try {
    return startProcess();
  } catch {
    return undefined;
  }
}

function forkProcess(): SeedProcess {
  const { path, execArgv } = entryFile();
  // The process needs none of our environment, which may hold secrets.
  return fork(path, [], { execArgv: [...execArgv, youngSpace], serialization: 'advanced', env: {} });
}

/** When compiled, the entry file is beside this one. From source (tests, development) it needs the TypeScript loader. */
function entryFile(): { readonly path: string; readonly execArgv: readonly string[] } {
  const self = fileURLToPath(import.meta.url);
  if (!self.endsWith('.ts')) return { path: self.replace('seed-pool.js', 'seed-process.js'), execArgv: [] };
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  return { path: self.replace('seed-pool.ts', 'seed-process.ts'), execArgv: ['--import', loader] };
}
