import { normalChance, seededChance } from '../../base/chance.ts';
import type { DurationMs } from '../../base/time.ts';
import { sigmaOf } from '../../rollout/model/log-normal.ts';

/** The course of one upgrade task. */
export interface Fate {
  readonly durationMs: DurationMs;
  readonly ends: FateEnd;
}

export type FateEnd =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly message: string }
  /** The task succeeds, and the collector never comes back. */
  | { readonly kind: 'lost' }
  /** The collector comes back on the build, and dies this long after the task's end. */
  | { readonly kind: 'dies'; readonly afterMs: DurationMs };

/** The same result for the same collector and attempt (from 1). */
export type FateOf = (collectorId: number, attempt: number) => Fate;

export interface UsualDurations {
  readonly medianMs: DurationMs;
  readonly p95Ms: DurationMs;
}

/** The course of upgrades that no break affects. */
export interface UsualCourse {
  readonly durations: UsualDurations;
  /** Collectors whose stratum has durations of its own. */
  readonly ofCollectors?: ReadonlyMap<number, UsualDurations>;
  /** Shares of the collectors, from 0 to 1, whose first attempt fails, and whose attempts all fail. */
  readonly failures: { readonly once: number; readonly always: number };
}

/** The service ends a task after 30 minutes; none takes longer (field-facts.md, Upgrades). */
const longestMs: DurationMs = 29 * 60_000;

/** Matches no rule for failure messages, so that it is retried. */
export const unknownMessage = 'upgrade process exited with code 17';

const succeeded: FateEnd = { kind: 'succeeded' };
const failed: FateEnd = { kind: 'failed', message: unknownMessage };

/** A task may fail at any step except the first ones, which only prepare it. */
const failsAfterShare = (chance: number): number => 0.3 + 0.7 * chance;

/** @param brokenEnd the end of an upgrade that the build breaks; undefined: not broken */
export function makeFates(
  seed: number,
  { durations, ofCollectors, failures }: UsualCourse,
  brokenEnd: (collectorId: number, chance: () => number) => FateEnd | undefined,
): FateOf {
  return (collectorId, attempt) => {
    const usual = ofCollectors?.get(collectorId) ?? durations;
    // Whether a collector fails does not depend on the attempt. How long it takes does.
    const nature = seededChance(hashNumbers(seed, collectorId, 0))();
    const chance = seededChance(hashNumbers(seed, collectorId, attempt));
    const durationMs = Math.min(longestMs, usual.medianMs * Math.exp(sigmaOf(usual) * normalChance(chance)));
    const { always, once } = failures;
    const fails = nature < always || (nature < always + once && attempt === 1);
    const ends = brokenEnd(collectorId, chance) ?? (fails ? failed : succeeded);
    return { durationMs: ends.kind === 'failed' ? durationMs * failsAfterShare(chance()) : durationMs, ends };
  };
}

/** Hashes several numbers into one. */
export function hashNumbers(...numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => Math.imul(sum ^ each, 0x9e3779b1) ^ (sum >>> 15), 0x2545f491) >>> 0;
}
