import { availableParallelism, loadavg } from 'node:os';
import type { Trial, TrialBrief } from './trial.ts';
import { runTrials } from './trial-process.ts';

/** Shares of the fleet that the bad build breaks: one stratum of about this size. */
const shares = [0.002, 0.01, 0.05] as const;

/** About four minutes on two cores. */
const full = { seeds: 50, breathMs: 60_000 } as const;

/** Under 25 seconds, for CI. */
const short = { seeds: 6, breathMs: 180_000 } as const;

const processesMax = 8;

/** What became of each fleet, in the order of the shares. */
export interface BlastRadiusResult {
  readonly machine: { readonly cores: number; readonly loadBefore: number };
  readonly cases: ReadonlyArray<{ readonly share: number; readonly trials: readonly Trial[] }>;
}

/** Lets a build that breaks one stratum loose on many fleets. @param tell what is on its way now */
export async function runBlastRadius(
  length: 'full' | 'short',
  tell: (text: string) => void,
): Promise<BlastRadiusResult> {
  const cores = availableParallelism();
  const machine = { cores, loadBefore: loadavg()[0] ?? 0 };
  const { seeds, breathMs } = length === 'short' ? short : full;
  tell(
    `${seeds} fleets for each build that breaks ${shares.map((share) => share * 100).join(', ')} % of them`,
  );
  const briefs = shares.flatMap((share, index) =>
    // No fleet is met twice, so that the chances of one case are not those of the next.
    Array.from(
      { length: seeds },
      (_, fleet): TrialBrief => ({ share, breathMs, seed: index * 1_000 + fleet + 1 }),
    ),
  );
  const trials = await runTrials(briefs, Math.min(cores, processesMax));
  const cases = shares.map((share) => ({ share, trials: trials.filter((trial) => trial.share === share) }));
  return { machine, cases };
}

/** Promises that some run broke, each with its run; empty when all were kept. */
export function brokenIn({ cases }: BlastRadiusResult): readonly string[] {
  return cases.flatMap(({ trials }) =>
    trials.flatMap(({ share, seed, upwave }) =>
      upwave.brokenPromises.map((text) => `${share * 100} %, seed ${seed}: ${text}`),
    ),
  );
}
