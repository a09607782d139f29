import type { DurationMs } from '../../base/time.ts';
import type { Scene, SeedResult } from '../../rehearsal/play/play-seed.ts';
import { isSettled } from '../../rehearsal/result/is-settled.ts';
import { summarizeSeeds } from '../../rehearsal/result/rehearsal.ts';
import type { RehearsedVariant, ShownRehearsal } from '../../rehearsal/result/rehearsal-text.ts';
import { variantsOf } from '../../rehearsal/result/variants.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import type { SeedPool } from './seed-pool.ts';

/** What is played: the policy for each seed, and where it harms collectors, also its variants. */
export interface Played {
  readonly scene: Scene;
  readonly policy: Policy;
  readonly seeds: number;
  readonly variants: boolean;
}

/** Writes a line; called often, while a person may be waiting. */
export type ShowProgress = (line: () => string) => void;

/** A large fleet takes minutes. */
const progressEveryMs: DurationMs = 5_000;

/** Shows progress at a terminal; a script reads only results and warnings. @param now a monotonic clock */
export function makeProgress(
  { isLive, err }: Pick<ConsoleOutput, 'isLive' | 'err'>,
  now: () => DurationMs = () => performance.now(),
): ShowProgress {
  let writtenAt = now();
  return (line) => {
    if (!isLive || now() - writtenAt < progressEveryMs) return;
    writtenAt = now();
    err.write(`${line()}\n`);
  };
}

/** Plays the seeds, and the variants with the first few of them. */
export async function playSeeds(
  pool: SeedPool,
  { scene, policy, seeds: count, variants: isVaried }: Played,
  show: ShowProgress,
): Promise<Pick<ShownRehearsal, 'rehearsal' | 'variants'>> {
  const seeds = Array.from({ length: count }, (_, index) => index + 1);
  const few = seeds.slice(0, Math.max(1, Math.floor(count / variantSeedsShare)));
  const results = await playUntilSettled(pool, policy, seeds, show);
  const rehearsal = summarizeSeeds(results, scene.beganAt);
  if (!isVaried || rehearsal.harmed.worst === 0) return { rehearsal, variants: [] };
  // All variants play the same seeds. The unchanged policy comes first.
  const played: RehearsedVariant[] = [
    { name: 'as it is', rehearsal: summarizeSeeds(results.slice(0, few.length), scene.beganAt) },
  ];
  const variants = variantsOf(policy, scene.snapshot.collectors);
  for (const [index, { name, policy: variant }] of variants.entries()) {
    const text = () => `still rehearsing: ${name}, ${index + 1} of ${variants.length} changes of the policy`;
    const varied = await pool.play(variant, few, () => show(text));
    played.push({ name, rehearsal: summarizeSeeds(varied, scene.beganAt) });
  }
  return { rehearsal, variants: played };
}

/** Seeds in one batch: enough to keep all processes busy to the end. */
const seedsPerBatch = 50;

/** Plays seeds until all are played, or more would show nothing new. */
async function playUntilSettled(
  pool: SeedPool,
  policy: Policy,
  seeds: readonly number[],
  show: ShowProgress,
): Promise<readonly SeedResult[]> {
  const results: SeedResult[] = [];
  let done = 0;
  const onPlayed = (): void => {
    done += 1;
    show(() => `still rehearsing: ${done} of at most ${seeds.length} seeds`);
  };
  for (let from = 0; from < seeds.length && !isSettled(results); from += seedsPerBatch)
    results.push(...(await pool.play(policy, seeds.slice(from, from + seedsPerBatch), onPlayed)));
  return results;
}

/** A variant is compared by its median. A quarter of the seeds is enough for that. */
const variantSeedsShare = 4;
