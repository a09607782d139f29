import type { PlanGroups } from '../model/plan-groups.ts';

/** How far the waves of a plan reach over its strata. */
export interface Coverage {
  /** Strata of the plan. */
  readonly total: number;
  /** Of each wave: strata with members in it. */
  readonly waves: readonly number[];
  /** Strata that no wave before the last covers: nothing is learned of them before everyone's turn. */
  readonly uncovered: {
    readonly count: number;
    /** The largest of them, at most twenty. */
    readonly labels: readonly string[];
  };
}

// More do not fit a line that a person reads.
const labelsMax = 20;

/** Reports how many strata each wave covers (DESIGN §4, Waves). */
export function coverage({ strata }: Pick<PlanGroups, 'strata'>): Coverage {
  const waveCount = strata[0]?.sizes.length ?? 0;
  const waves = Array.from(
    { length: waveCount },
    (_, wave) => strata.filter(({ sizes }) => (sizes[wave] ?? 0) > 0).length,
  );
  const uncovered = strata.filter(({ sizes }) => sizes.slice(0, -1).every((size) => size === 0));
  return {
    total: strata.length,
    waves,
    uncovered: { count: uncovered.length, labels: uncovered.slice(0, labelsMax).map(({ label }) => label) },
  };
}
