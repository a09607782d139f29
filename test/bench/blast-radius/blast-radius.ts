import { availableParallelism, loadavg } from 'node:os';
import type { AttributeBrief, AttributeTrial } from './attribute-trial.ts';
import type { Hidden } from './hide-attribute.ts';
import type { Trial, TrialBrief } from './trial.ts';
import { runTrials } from './trial-process.ts';

/** Shares of the fleet that the bad build breaks: one stratum of about this size. */
const shares = [0.002, 0.01, 0.05] as const;

/** What a bad build breaks of the fleets whose collectors have 12 attributes. */
const hiddenOnes: readonly Hidden[] = [
  { kind: 'value', share: 0.005 },
  { kind: 'value', share: 0.02 },
  { kind: 'value', share: 0.1 },
  { kind: 'pair', share: 0.02 },
];

/** About ten minutes on four cores. */
const full = { seeds: 50, hiddenSeeds: 50, healthySeeds: 200, passPauseMs: 60_000 } as const;

/** Under 50 seconds on two cores, for CI. */
const short = { seeds: 4, hiddenSeeds: 1, healthySeeds: 2, passPauseMs: 180_000 } as const;

const processesMax = 8;

/** What became of each fleet, in the order of the shares. */
export interface BlastRadiusResult {
  readonly machine: { readonly cores: number; readonly loadBefore: number };
  readonly cases: ReadonlyArray<{ readonly share: number; readonly trials: readonly Trial[] }>;
  readonly attributeCases: readonly AttributeCase[];
}

/** Fleets of which the build breaks those who share a value, or a pair, that nobody spread by. */
export interface AttributeCase {
  readonly hidden: Hidden;
  readonly trials: readonly AttributeTrial[];
}

/** Lets a build that breaks one stratum loose on many fleets. @param tell what is on its way now */
export async function runBlastRadius(
  length: 'full' | 'short',
  tell: (text: string) => void,
): Promise<BlastRadiusResult> {
  const cores = availableParallelism();
  const machine = { cores, loadBefore: loadavg()[0] ?? 0 };
  const { seeds, passPauseMs } = length === 'short' ? short : full;
  tell(
    `${seeds} fleets for each build that breaks ${shares.map((share) => share * 100).join(', ')} % of them`,
  );
  const briefs = shares.flatMap((share, index) =>
    // No fleet is met twice, so that the chances of one case are not those of the next.
    Array.from(
      { length: seeds },
      (_, fleet): TrialBrief => ({ share, passPauseMs, seed: index * 1_000 + fleet + 1 }),
    ),
  );
  const processes = Math.min(cores, processesMax);
  const trials = await runTrials(briefs, processes);
  const cases = shares.map((share) => ({ share, trials: trials.filter((trial) => trial.share === share) }));
  return { machine, cases, attributeCases: await runAttributeCases(length, processes, tell) };
}

async function runAttributeCases(
  length: 'full' | 'short',
  processes: number,
  tell: (text: string) => void,
): Promise<readonly AttributeCase[]> {
  const { hiddenSeeds, healthySeeds, passPauseMs } = length === 'short' ? short : full;
  tell(`${hiddenSeeds} fleets for each hidden attribute, and ${healthySeeds} with a good build`);
  const cases: AttributeCase[] = [];
  for (const [index, hidden] of [...hiddenOnes, { kind: 'nobody' } as const].entries()) {
    const seeds = hidden.kind === 'nobody' ? healthySeeds : hiddenSeeds;
    const briefs = Array.from(
      { length: seeds },
      (_, fleet): AttributeBrief => ({ hidden, passPauseMs, seed: (10 + index) * 1_000 + fleet + 1 }),
    );
    cases.push({ hidden, trials: await runTrials(briefs, processes) });
  }
  return cases;
}

/** Promises that some run broke, each with its run; empty when all were kept. */
export function brokenIn({ cases, attributeCases }: BlastRadiusResult): readonly string[] {
  const ofStrata = cases.flatMap(({ trials }) =>
    trials.flatMap(({ share, seed, upwave }) =>
      upwave.brokenPromises.map((text) => `${share * 100} %, seed ${seed}: ${text}`),
    ),
  );
  const ofAttributes = attributeCases.flatMap(({ trials }) =>
    trials.flatMap(({ seed, byAttributes, byStrata }) =>
      [byAttributes, byStrata].flatMap((play) =>
        (play?.brokenPromises ?? []).map((text) => `attributes, seed ${seed}: ${text}`),
      ),
    ),
  );
  return [...ofStrata, ...ofAttributes];
}
