import { assertNever } from '../../../src/base/assert.ts';
import {
  type FateEnd,
  type FateOf,
  makeFates as makeUsualFates,
  unknownMessage,
} from '../../../src/rehearsal/world/fates.ts';

/** How the build breaks its stratum. */
export const flavours = ['taskFails', 'doesNotReturn', 'diesLater'] as const;
export type Flavour = (typeof flavours)[number];

const usual = {
  // Log-normal, 95 % within 20 minutes (field-facts.md, Upgrades).
  durations: { medianMs: 5 * 60_000, p95Ms: 20 * 60_000 },
  // With these, 96.5 % of the first tries outside the broken stratum succeed (field-facts.md: 93-95 %).
  failures: { always: 0.005, once: 0.03 },
};

/** @param failures of the collectors that the build does not break */
export function makeFates(
  seed: number,
  broken: ReadonlySet<number>,
  flavour: Flavour,
  failures = usual.failures,
): FateOf {
  return makeUsualFates(seed, { ...usual, failures }, (collectorId, chance) =>
    broken.has(collectorId) ? brokenEnd(flavour, chance) : undefined,
  );
}

function brokenEnd(flavour: Flavour, chance: () => number): FateEnd {
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
