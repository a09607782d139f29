import type { RolloutCourse } from '../../contract/admin/course.ts';
import { expectationOf } from '../decision/assess-gate.ts';
import type { Rollout } from '../model/rollout.ts';

/** The results of one gate over time. */
export type GateCourse = RolloutCourse['gates'][number];

/** The results of the rollout's gates, without those that were never evaluated. */
export function describeGates({ policy, waves }: Rollout): readonly GateCourse[] {
  return waves.flatMap(({ name: wave, gates }, waveIndex) =>
    gates.flatMap(({ samples }, index) => {
      const rule = policy.waves[waveIndex]?.gates[index];
      if (rule === undefined || samples.length === 0) return [];
      return [{ wave, name: rule.name, expect: expectationOf(rule), samples }];
    }),
  );
}
