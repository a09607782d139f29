import { describe, expect, it } from 'vitest';
import { assessPlan } from '../../../src/cli/plan/plan-figures.ts';
import { usualWhatIf } from '../../../src/cli/rehearse/what-if-file.ts';
import { playSeed } from '../../../src/rehearsal/play/play-seed.ts';
import { makePlan } from '../../../src/rollout/planning/plan.ts';
import { aFleet, aPolicy, aWaveRule, startedAt, targetBuild } from '../../support/builders.ts';

const minute = 60_000;
const requestsPerSecond = 4;

describe('the estimate of a plan', () => {
  it.each([
    { collectors: 200, concurrency: 10 },
    { collectors: 200, concurrency: 50 },
    { collectors: 400, concurrency: 20 },
    { collectors: 100, concurrency: 50, pace: { perHour: 60, from: 20, factor: 2, after: 20 } },
  ])(
    'is what a rehearsal comes to, $collectors collectors with $concurrency slots, pace $pace',
    async ({ collectors, concurrency, pace }) => {
      const all = {
        ...aWaveRule({ name: 'all', soakMs: 0 }),
        maxFailures: { kind: 'percent', percent: 100 },
      } as const;
      const policy = aPolicy({ concurrency, waves: [all], ...(pace && { pace }) });
      const snapshot = aFleet(collectors);
      const plan = makePlan(policy, targetBuild, snapshot, 'production-20260302-1');
      const { estimate } = assessPlan(policy, plan, { now: startedAt, requestsPerSecond, history: [] });
      const whatIf = usualWhatIf({ policy, at: startedAt });
      const scene = {
        targetBuild,
        snapshot,
        beganAt: startedAt,
        whatIf,
        requestsPerSecond,
        passPauseMs: 1_000,
      };
      const took = await Promise.all([1, 2, 3, 4, 5].map((seed) => playSeed(scene, policy, seed)));
      const medianOf = (values: readonly number[]) => values.toSorted((a, b) => a - b)[2] ?? 0;
      const median = medianOf(took.map(({ tookMs }) => tookMs));
      const estimatedMs = (estimate.endsAt ?? 0) - startedAt;
      expect(Math.abs(estimatedMs - median)).toBeLessThan(estimate.plusMinusMs);
      expect(median).toBeGreaterThan(10 * minute);
      const requests = medianOf(took.map((each) => each.requests));
      expect(Math.abs(estimate.requests - requests)).toBeLessThan(requests / 4);
    },
  );
});
