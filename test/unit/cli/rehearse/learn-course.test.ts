import { describe, expect, it } from 'vitest';
import { type CourseReads, learnCourse, learnDurations } from '../../../../src/cli/rehearse/learn-course.ts';
import { CommandFailure } from '../../../../src/cli/shell/command.ts';
import { emptyCounts } from '../../../../src/rollout/decision/assess.ts';

type Known = Awaited<ReturnType<CourseReads['pageRollouts']>>['rollouts'][number];

function aKnown(changes: Partial<Known>): Known {
  const counts = { ...emptyCounts(), succeeded: 90, failed: 6, timedOut: 4 };
  return {
    id: 'production-1',
    policy: 'production',
    kind: 'upgrade',
    state: 'succeeded',
    counts,
    ...changes,
  };
}

/** 100 successes that took 1 to 100 minutes, of which each tenth needed a second try. */
const successes = Array.from({ length: 100 }, (_, index) => ({
  at: 9_000_000,
  event: 'upgrade.succeeded',
  collectorId: index,
  attempt: index % 10 === 0 ? 2 : 1,
  durationMs: (index + 1) * 60_000,
}));

/** Each was verified for 20 seconds, after 40 in which nobody saw that its task had ended. */
const taskEnds = successes.map((success) => ({
  ...success,
  at: success.at - 20_000,
  event: 'upgrade.verifying',
  seenDelayMs: 40_000,
}));

function reads(...rollouts: readonly Known[]): CourseReads {
  return {
    pageRollouts: async () => ({ rollouts }),
    readEvents: async (id, { type }) =>
      id === 'production-1' ? [...successes, ...taskEnds].filter(({ event }) => event === type) : [],
  };
}

describe('what a rehearsal learns from the last rollout', () => {
  it('is how long tasks of first attempts ran, and the shares that failed once and for good', async () => {
    const { durations, failures } = await learnCourse(reads(aKnown({})), 'production');
    expect(failures.always).toBeCloseTo(0.1);
    expect(failures.once).toBeCloseTo(0.09);
    expect(durations).toEqual({ medianMs: 50 * 60_000 - 40_000, p95Ms: 95 * 60_000 - 40_000 });
  });

  it('skips rollouts of other policies, rollbacks, stopped rollouts and small ones', async () => {
    const small = { ...emptyCounts(), succeeded: 19 };
    const others = [
      aKnown({ id: 'a', policy: 'other' }),
      aKnown({ id: 'b', kind: 'rollback' }),
      aKnown({ id: 'c', state: 'aborted' }),
      aKnown({ id: 'd', counts: small }),
    ];
    const { failures } = await learnCourse(reads(...others, aKnown({})), 'production');
    expect(failures.always).toBeCloseTo(0.1);
    await expect(learnCourse(reads(...others), 'production')).rejects.toThrow(CommandFailure);
  });
});

describe('the durations that a rehearsal learns from a daemon', () => {
  it('are those of each collector, also in a rollout that was stopped, but not in a running one', async () => {
    const rollouts = [aKnown({ id: 'production-2', state: 'running' }), aKnown({ state: 'aborted' })];
    const learned = await learnDurations(reads(...rollouts), 'production');
    expect(learned).toMatchObject({
      rolloutId: 'production-1',
      durations: { medianMs: 50 * 60_000 - 40_000, p95Ms: 95 * 60_000 - 40_000 },
    });
    expect(learned).not.toHaveProperty('failures');
    // 10 of the 100 needed a second attempt.
    expect(learned?.tookMs.size).toBe(90);
    expect(learned?.tookMs.get(1)).toBe(2 * 60_000 - 40_000);
  });

  it('are unknown without a rollout', async () => {
    expect(await learnDurations(reads(aKnown({ state: 'running' })), 'production')).toBeUndefined();
  });
});
