import { assertNever } from '../../../src/base/assert.ts';
import type { DurationMs } from '../../../src/base/time.ts';
import { seededChance } from '../../support/seeded-chance.ts';

/** How the build breaks its stratum. */
export const flavours = ['taskFails', 'doesNotReturn', 'diesLater'] as const;
export type Flavour = (typeof flavours)[number];

/** What becomes of one upgrade task. */
export interface Fate {
  readonly durationMs: DurationMs;
  readonly ends:
    | { readonly kind: 'succeeded' }
    | { readonly kind: 'failed'; readonly message: string }
    /** The task says succeeded, and the collector is never heard from again. */
    | { readonly kind: 'lost' }
    /** The collector comes back on the build, and dies so long after the task's end. */
    | { readonly kind: 'dies'; readonly afterMs: DurationMs };
}

/** The same for everyone who upgrades this collector for the n-th time (from 1). */
export type FateOf = (collectorId: number, attempt: number) => Fate;

// Log-normal, 95 % within 20 minutes, cut at 30 (field-facts.md, Upgrades).
const medianMs = 5 * 60_000;
const sigma = Math.log(20 / 5) / 1.645;
const longestMs = 29 * 60_000;

// With these, 96.5 % of the first tries outside the broken stratum succeed (field-facts.md: 93-95 %).
const failsForGood = 0.005;
const failsOnce = 0.03;

const unknownMessage = 'upgrade process exited with code 17';

export function makeFates(seed: number, broken: ReadonlySet<number>, flavour: Flavour): FateOf {
  return (collectorId, attempt) => {
    // What a collector is like does not depend on the attempt; how long it takes does.
    const nature = seededChance(mixed(seed, collectorId, 0))();
    const chance = seededChance(mixed(seed, collectorId, attempt));
    const durationMs = Math.min(longestMs, medianMs * Math.exp(sigma * normal(chance)));
    if (broken.has(collectorId)) return { durationMs, ends: brokenEnd(flavour, chance) };
    const fails = nature < failsForGood || (nature < failsForGood + failsOnce && attempt === 1);
    return { durationMs, ends: fails ? { kind: 'failed', message: unknownMessage } : { kind: 'succeeded' } };
  };
}

function brokenEnd(flavour: Flavour, chance: () => number): Fate['ends'] {
  switch (flavour) {
    case 'taskFails':
      return { kind: 'failed', message: unknownMessage };
    case 'doesNotReturn':
      return { kind: 'lost' };
    case 'diesLater':
      return { kind: 'dies', afterMs: (5 + 20 * chance()) * 60_000 };
    default:
      return assertNever(flavour);
  }
}

function mixed(...numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => Math.imul(sum ^ each, 0x9e3779b1) ^ (sum >>> 15), 0x2545f491) >>> 0;
}

function normal(chance: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - chance())) * Math.cos(2 * Math.PI * chance());
}
