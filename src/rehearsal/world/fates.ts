import { normalChance, seededChance } from '../../base/chance.ts';
import type { DurationMs } from '../../base/time.ts';
import { sigmaOf } from '../../rollout/model/log-normal.ts';

/** What becomes of one upgrade task. */
export interface Fate {
  readonly durationMs: DurationMs;
  readonly ends: FateEnd;
}

export type FateEnd =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly message: string }
  /** The task says succeeded, and the collector is never heard from again. */
  | { readonly kind: 'lost' }
  /** The collector comes back on the build, and dies so long after the task's end. */
  | { readonly kind: 'dies'; readonly afterMs: DurationMs };

/** The same for everyone who upgrades this collector for the n-th time (from 1). */
export type FateOf = (collectorId: number, attempt: number) => Fate;

/** How upgrades go that no break concerns. */
export interface UsualCourse {
  readonly durations: { readonly medianMs: DurationMs; readonly p95Ms: DurationMs };
  /** Shares of the collectors, from 0 to 1: those whose first try fails, and those that fail at each try. */
  readonly failures: { readonly once: number; readonly always: number };
}

/** The service ends a task after 30 minutes; none takes longer (field-facts.md, Upgrades). */
const longestMs: DurationMs = 29 * 60_000;

/** No rule knows it, so that it is tried again. */
export const unknownMessage = 'upgrade process exited with code 17';

const succeeded: FateEnd = { kind: 'succeeded' };
const failed: FateEnd = { kind: 'failed', message: unknownMessage };

/** A task that fails may do so at any step, but for the first ones: those only prepare it. */
const failsAfterShare = (chance: number): number => 0.3 + 0.7 * chance;

/** @param brokenEnd how the build ends for a collector that it breaks; undefined: it does not break it */
export function makeFates(
  seed: number,
  { durations, failures }: UsualCourse,
  brokenEnd: (collectorId: number, chance: () => number) => FateEnd | undefined,
): FateOf {
  const { medianMs } = durations;
  const sigma = sigmaOf(durations);
  return (collectorId, attempt) => {
    // What a collector is like does not depend on the attempt; how long it takes does.
    const nature = seededChance(mixed(seed, collectorId, 0))();
    const chance = seededChance(mixed(seed, collectorId, attempt));
    const durationMs = Math.min(longestMs, medianMs * Math.exp(sigma * normalChance(chance)));
    const { always, once } = failures;
    const fails = nature < always || (nature < always + once && attempt === 1);
    const ends = brokenEnd(collectorId, chance) ?? (fails ? failed : succeeded);
    return { durationMs: ends.kind === 'failed' ? durationMs * failsAfterShare(chance()) : durationMs, ends };
  };
}

/** One number of several, evenly spread. */
export function mixed(...numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => Math.imul(sum ^ each, 0x9e3779b1) ^ (sum >>> 15), 0x2545f491) >>> 0;
}
