import { describe, expect, it } from 'vitest';
import { decide } from '../../src/rollout/decide.ts';
import { evolveRollout } from '../../src/rollout/evolve-rollout.ts';
import type { Rollout, RolloutView } from '../../src/rollout/rollout.ts';
import { describeRollout } from '../../src/rollout/status.ts';
import { judgeVerb, type RolloutVerb } from '../../src/rollout/verbs.ts';
import { aPolicy, aRollout, aSummary, aView, aWave, aWaveRule, startedAt } from '../support/builders.ts';

const now = startedAt + 3_600_000;

function twoWaves(changes: Partial<RolloutView> = {}, rollout: Partial<Rollout> = {}): RolloutView {
  const waves = [
    aWaveRule({ name: 'canary', soakMs: 1_800_000, maxFailures: { kind: 'count', count: 1 } }),
    aWaveRule({ maxFailures: { kind: 'percent', percent: 5 } }),
  ];
  return aView({
    rollout: aRollout({
      policy: aPolicy({ concurrency: 4, waves }),
      waves: [
        aWave({ name: 'canary', size: 5 }),
        aWave({ name: 'rest', size: 20, state: 'waiting', openedAt: null }),
      ],
      ...rollout,
    }),
    waves: [aSummary({ succeeded: 5 }), aSummary({ pending: 20 })],
    candidates: { wave: 1, collectorIds: [11, 12, 13, 14, 15, 16] },
    ...changes,
  });
}

describe('slots (P2)', () => {
  const open = {
    candidates: { wave: 0, collectorIds: [1, 2, 3, 4, 5] },
    waves: [aSummary({ pending: 5 }), aSummary({ pending: 20 })],
  };

  it('admits candidates of the open wave into free slots, in plan order', () => {
    const { actions } = decide(twoWaves({ ...open, slotsTaken: 1 }), now);
    expect(actions).toEqual([{ do: 'admit', collectorIds: [1, 2, 3], slots: 4 }]);
  });

  it('lets retries that are due go first', () => {
    const { actions } = decide(twoWaves({ ...open, slotsTaken: 2, retriesDue: [9] }), now);
    expect(actions).toEqual([{ do: 'admit', collectorIds: [9, 1], slots: 4 }]);
  });

  it('says so when all are taken', () => {
    const decision = decide(twoWaves({ ...open, slotsTaken: 4 }), now);
    expect(decision.actions).toEqual([]);
    expect(decision.holds).toEqual([{ reason: 'all 4 slots are taken', until: null }]);
  });

  it('wakes at the next retry', () => {
    const waves = [aSummary({ retrying: 1, succeeded: 4 }), aSummary({ pending: 20 })];
    const decision = decide(twoWaves({ waves, nextRetryAt: now + 5_000 }), now);
    expect(decision.wakeAt).toBe(now + 5_000);
    expect(decision.holds).toEqual([{ reason: 'the next retry is not due yet', until: now + 5_000 }]);
  });
});

describe('order (P3)', () => {
  it('admits nobody of a wave that is not open', () => {
    const { actions } = decide(
      twoWaves({ waves: [aSummary({ succeeded: 4, upgrading: 1 }), aSummary({ pending: 20 })] }),
      now,
    );
    expect(actions).toEqual([]);
  });

  it('soaks a settled wave from its last change', () => {
    const { actions } = decide(twoWaves(), now);
    expect(actions).toEqual([{ do: 'beginSoak', wave: 0, endsAt: startedAt + 1_800_000 }]);
  });

  it('passes it when the soak is over, and not a millisecond earlier', () => {
    const soaking = {
      waves: [aWave({ size: 5, state: 'soaking', soakEndsAt: now }), aWave({ size: 20, state: 'waiting' })],
    };
    const view = twoWaves({}, soaking);
    expect(decide(view, now - 1).actions).toEqual([]);
    expect(decide(view, now - 1).wakeAt).toBe(now);
    expect(decide(view, now).actions).toEqual([{ do: 'passWave', wave: 0 }]);
  });

  it('opens the next wave when the one before has passed', () => {
    const passed = { waves: [aWave({ size: 5, state: 'passed' }), aWave({ size: 20, state: 'waiting' })] };
    expect(decide(twoWaves({}, passed), now).actions).toContainEqual({ do: 'openWave', wave: 1 });
  });

  it('is not held up by deferred ones', () => {
    const view = twoWaves({ waves: [aSummary({ succeeded: 4, deferred: 1 }), aSummary({ pending: 20 })] });
    expect(decide(view, now).actions[0]).toMatchObject({ do: 'beginSoak' });
  });
});

describe('the breaker', () => {
  it('holds at once when failures exceed what is allowed, with the figures', () => {
    const running = aSummary({ pending: 2, upgrading: 1, failed: 2 }, { weight: 2 });
    const { actions } = decide(twoWaves({ waves: [running, aSummary({ pending: 20 })] }), now);
    expect(actions).toEqual([{ do: 'hold', wave: 0, reason: 'wave canary: failures 2, allowed 1' }]);
  });

  it('allows exactly as many as allowed', () => {
    const running = aSummary({ succeeded: 4, failed: 1 }, { weight: 1 });
    expect(decide(twoWaves({ waves: [running, aSummary({ pending: 20 })] }), now).actions[0]).toMatchObject({
      do: 'beginSoak',
    });
  });

  it('rounds a share down: 5 % of 10 allows none', () => {
    const waves = [aWaveRule({ maxFailures: { kind: 'percent', percent: 5 } })];
    const rollout = aRollout({ policy: aPolicy({ waves }), waves: [aWave({ size: 10 })] });
    const view = aView({ rollout, waves: [aSummary({ pending: 9, failed: 1 }, { weight: 1 })] });
    expect(decide(view, now).actions[0]).toMatchObject({ do: 'hold' });
  });

  it('names collectors that did not come back', () => {
    const running = aSummary({ succeeded: 4, unconfirmed: 1 }, { weight: 3, lost: 1 });
    const { actions } = decide(twoWaves({ waves: [running, aSummary({ pending: 20 })] }), now);
    expect(actions[0]).toMatchObject({
      reason: 'wave canary: failures 3, allowed 1, 1 of them did not come back',
    });
  });

  it('also trips for a wave that has passed, when its late ones fail', () => {
    const waves = [aSummary({ succeeded: 3, failed: 2 }, { weight: 2 }), aSummary({ pending: 20 })];
    const passed = { waves: [aWave({ size: 5, state: 'passed' }), aWave({ size: 20 })] };
    expect(decide(twoWaves({ waves }, passed), now).actions[0]).toMatchObject({ do: 'hold', wave: 0 });
  });

  it('trips again only for new failures after a resume', () => {
    const waves = [
      aSummary({ succeeded: 2, failed: 2, pending: 1 }, { weight: 2 }),
      aSummary({ pending: 20 }),
    ];
    const held = twoWaves({ waves }, { state: 'held' });
    const judgement = judgeVerb(held, { verb: 'resume', by: 'ann', reason: 'seen', at: now });
    if (judgement.kind !== 'change') throw new Error('resume was refused');
    const rollout = evolveRollout(held.rollout, judgement.fact);
    expect(decide({ ...held, rollout }, now).actions.some((action) => action.do === 'hold')).toBe(false);
    const third = [aSummary({ succeeded: 2, failed: 3 }, { weight: 3 }), aSummary({ pending: 20 })];
    expect(decide({ ...held, rollout, waves: third }, now).actions[0]).toMatchObject({ do: 'hold' });
  });

  it('lifts a brake that nothing justifies', () => {
    expect(decide(twoWaves({ braked: true }), now).actions[0]).toEqual({ do: 'liftBrake' });
  });
});

describe('inconclusive is a hold (P14)', () => {
  it('holds a wave that brought no evidence', () => {
    const view = twoWaves({ waves: [aSummary({ deferred: 3, withdrawn: 2 }), aSummary({ pending: 20 })] });
    expect(decide(view, now).actions).toEqual([
      {
        do: 'hold',
        wave: 0,
        reason: 'wave canary brought no evidence: none of its 5 collectors was upgraded',
      },
    ]);
  });

  it('goes on when an operator resumes in spite of that', () => {
    const held = twoWaves(
      { waves: [aSummary({ withdrawn: 5 }), aSummary({ pending: 20 })] },
      { state: 'held' },
    );
    const judgement = judgeVerb(held, { verb: 'resume', by: 'ann', reason: '', at: now });
    if (judgement.kind !== 'change') throw new Error('resume was refused');
    const rollout = evolveRollout(held.rollout, judgement.fact);
    expect(decide({ ...held, rollout }, now).actions[0]).toMatchObject({ do: 'beginSoak' });
  });

  it('does not let a resume during a wave excuse missing evidence later', () => {
    const held = twoWaves(
      { waves: [aSummary({ pending: 5 }), aSummary({ pending: 20 })] },
      { state: 'paused' },
    );
    const judgement = judgeVerb(held, { verb: 'resume', by: 'ann', reason: '', at: now });
    if (judgement.kind !== 'change') throw new Error('resume was refused');
    const rollout = evolveRollout(held.rollout, judgement.fact);
    const later = { ...held, rollout, waves: [aSummary({ withdrawn: 5 }), aSummary({ pending: 20 })] };
    expect(decide(later, now).actions[0]).toMatchObject({ do: 'hold' });
  });

  it('passes a wave without members', () => {
    const waves = { waves: [aWave({ size: 0 }), aWave({ size: 20, state: 'waiting' })] };
    expect(decide(twoWaves({ waves: [aSummary(), aSummary({ pending: 20 })] }, waves), now).actions).toEqual([
      { do: 'passWave', wave: 0 },
    ]);
  });
});

describe('a rollout that does not run', () => {
  it.each(['held', 'paused', 'awaitingApproval', 'planned'] as const)(
    'starts nothing while %s, and delivers what is overdue',
    (state) => {
      const view = twoWaves(
        { overdue: [3], candidates: { wave: 0, collectorIds: [1] } },
        { state, reason: 'why' },
      );
      const decision = decide(view, now);
      expect(decision.actions).toEqual([{ do: 'deliver', collectorIds: [3] }]);
      expect(decision.holds).toEqual([{ reason: `${state}: why`, until: null }]);
    },
  );

  it('withdraws what waits after an abort, watches what runs, and closes', () => {
    const aborted = { state: 'aborted' as const };
    const waits = twoWaves(
      { waves: [aSummary({ upgrading: 1, succeeded: 4 }), aSummary({ pending: 20 })] },
      aborted,
    );
    expect(decide(waits, now).actions).toEqual([
      { do: 'withdrawWaiting', reason: 'the rollout was aborted' },
    ]);
    const watches = twoWaves(
      { waves: [aSummary({ upgrading: 1, succeeded: 4 }), aSummary({ withdrawn: 20 })] },
      aborted,
    );
    expect(decide(watches, now).actions).toEqual([]);
    const over = twoWaves({ waves: [aSummary({ succeeded: 5 }), aSummary({ withdrawn: 20 })] }, aborted);
    expect(decide(over, now).actions).toEqual([{ do: 'close' }]);
  });
});

describe('the end', () => {
  const passed = { waves: [aWave({ size: 5, state: 'passed' }), aWave({ size: 20, state: 'passed' })] };

  it('is succeeded when nothing failed', () => {
    const waves = [aSummary({ succeeded: 5 }), aSummary({ succeeded: 19, withdrawn: 1 })];
    expect(decide(twoWaves({ waves }, passed), now).actions).toEqual([{ do: 'finish', state: 'succeeded' }]);
  });

  it('is finishedWithFailures when something did', () => {
    const waves = [aSummary({ succeeded: 5 }), aSummary({ succeeded: 19, failed: 1 }, { weight: 1 })];
    expect(decide(twoWaves({ waves }, passed), now).actions).toEqual([
      { do: 'finish', state: 'finishedWithFailures' },
    ]);
  });

  it('waits for deferred collectors, and says so', () => {
    const waves = [aSummary({ succeeded: 5 }), aSummary({ succeeded: 18, deferred: 2 })];
    const decision = decide(twoWaves({ waves }, passed), now);
    expect(decision.actions).toEqual([]);
    expect(decision.holds[0]?.reason).toBe('2 deferred collectors are waited for');
  });
});

describe('verbs', () => {
  const legal: Record<RolloutVerb, readonly string[]> = {
    pause: ['planned', 'awaitingApproval', 'running'],
    resume: ['paused', 'held'],
    abort: ['planned', 'awaitingApproval', 'running', 'held', 'paused'],
  };
  const unchanged: Record<RolloutVerb, string> = { pause: 'paused', resume: 'running', abort: 'aborted' };
  const states = [
    'planned',
    'awaitingApproval',
    'running',
    'held',
    'paused',
    'succeeded',
    'finishedWithFailures',
    'aborted',
  ] as const;
  const verbs: readonly RolloutVerb[] = ['pause', 'resume', 'abort'];

  it.each(verbs.flatMap((verb) => states.map((state) => [verb, state] as const)))(
    '%s in state %s',
    (verb, state) => {
      const judgement = judgeVerb(twoWaves({}, { state }), { verb, by: 'ann', reason: '', at: now });
      const expected = legal[verb].includes(state)
        ? 'change'
        : unchanged[verb] === state
          ? 'unchanged'
          : 'refused';
      expect(judgement.kind).toBe(expected);
    },
  );

  it('keeps who and why', () => {
    const judgement = judgeVerb(twoWaves(), {
      verb: 'pause',
      by: 'ann',
      reason: 'storage team asked',
      at: now,
    });
    expect(judgement).toMatchObject({ fact: { kind: 'paused', reason: 'by ann: storage team asked' } });
  });
});

describe('status', () => {
  it('says what decide says', () => {
    const soaking = {
      waves: [
        aWave({ name: 'canary', size: 5, state: 'soaking', soakEndsAt: now + 60_000 }),
        aWave({ size: 20, state: 'waiting' }),
      ],
    };
    const status = describeRollout(twoWaves({}, soaking), now, 4);
    expect(status.holds).toEqual([{ reason: 'wave canary soaks', until: now + 60_000 }]);
    expect(status.waves[1]?.waits).toBe('gate of canary');
    expect(status.planned).toBe(25);
    expect(status.counts).toMatchObject({ succeeded: 5, pending: 20 });
    expect(status.eta?.at).toBeGreaterThan(now);
  });
});
