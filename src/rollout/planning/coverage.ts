import type { PlanGroups } from '../model/plan-groups.ts';

/** How many of a plan's strata its waves cover. */
export interface Coverage {
  /** Strata of the plan. */
  readonly total: number;
  /** For each wave, the number of strata that have members in it. */
  readonly waves: readonly number[];
  /** Strata with members in the last wave only: no earlier wave tests the build on them. */
  readonly uncovered: {
    readonly count: number;
    /** The largest strata, at most `labelsMax`. */
    readonly labels: readonly string[];
  };
}

// More labels do not fit one line of the status.
const labelsMax = 20;

/** Reports how many strata each wave covers (DESIGN §4, Waves). */
export function coverage({ strata }: Pick<PlanGroups, 'strata'>): Coverage {
  const waveCount = strata[0]?.sizes.length ?? 0;
  const waves = Array.from(
    { length: waveCount },
    (_, wave) => strata.filter(({ sizes }) => (sizes[wave] ?? 0) > 0).length,
  );
  // All members of a stratum may have been moved to a held group.
  const filled = strata.filter(({ sizes }) => sizes.some((size) => size > 0));
  const uncovered = filled.filter(({ sizes }) => sizes.slice(0, -1).every((size) => size === 0));
  return {
    total: filled.length,
    waves,
    uncovered: { count: uncovered.length, labels: uncovered.slice(0, labelsMax).map(({ label }) => label) },
  };
}
