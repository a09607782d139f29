import { groupBy } from '../../base/grouping.ts';
import type { UsualDurations } from '../../rehearsal/world/fates.ts';
import type { WhatIf } from '../../rehearsal/world/what-if.ts';
import type { Plan } from '../../rollout/planning/plan.ts';
import { type LearnedCourse, usualOf } from './learn-course.ts';

/** Fewer durations say little about a 95th percentile. */
const durationsMin = 20;

/**
 * Gives each stratum of a plan the durations that its collectors had in an earlier rollout. Labels of strata differ between
 * rollouts, because they contain builds. A stratum with few known durations keeps those of all.
 */
export function withStrataDurations(
  whatIf: WhatIf,
  { waves }: Pick<Plan, 'waves'>,
  { tookMs }: Pick<LearnedCourse, 'tookMs'>,
): WhatIf {
  const { durationsFrom: from } = whatIf;
  if (from?.kind !== 'rollout') return whatIf;
  const strata = groupBy(
    waves.flatMap(({ members }) => members),
    ({ stratum }) => stratum,
  );
  const ofCollectors = new Map<number, UsualDurations>();
  let known = 0;
  for (const members of strata.values()) {
    const own = members.flatMap(({ collector }) => tookMs.get(collector.id) ?? []);
    if (own.length < durationsMin) continue;
    known += 1;
    const usual = usualOf(own);
    for (const { collector } of members) ofCollectors.set(collector.id, usual);
  }
  return { ...whatIf, ofCollectors, durationsFrom: { ...from, strata: known, strataTotal: strata.size } };
}
