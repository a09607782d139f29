import { describe, expect, it } from 'vitest';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import { blockerText } from '../../../../src/rollout/messages/blockers.ts';
import { askedFor, startedAt } from '../../../support/builders.ts';
import { aViewOf, type Counts, type ViewCase, type WaveCase } from '../../../support/view-cases.ts';

const now = startedAt + 3_600_000;

const canary: WaveCase = {
  name: 'canary',
  counts: { succeeded: 5 },
  rule: { soakMs: 1_800_000, maxFailures: { kind: 'count', count: 1 } },
};
const rest: WaveCase = { counts: { pending: 20 }, wave: { state: 'waiting' } };
const passed = { state: 'passed' } as const;

/** A canary that is upgraded, and the rest behind it. */
const twoWaves = (changes: ViewCase = {}) => aViewOf({ waves: [canary, rest], ...changes });
const actionsOf = (changes: ViewCase = {}) => decide(twoWaves(changes), now).actions;

const ones = (...ids: readonly number[]) => ids.map((collectorId) => ({ collectorId, order: collectorId }));

describe('a running rollout', () => {
  it('shows a blocker when all slots are taken (P2)', () => {
    const full = twoWaves({
      waves: [{ ...canary, counts: { pending: 5 } }, rest],
      candidates: [{ lane: 0, retries: [], pending: ones(1, 2, 3, 4, 5) }],
      slotsTaken: 10,
    });
    expect(decide(full, now)).toMatchObject({
      actions: [],
      blockers: [{ kind: 'concurrency', slots: 10, until: null }],
    });
  });

  it('shows first that no create leaves after an outage of Redis, with its end (P16)', () => {
    const createsWait = { isLost: false, unconfirmed: 1, until: now + 35_000 };
    const full = twoWaves({
      waves: [{ ...canary, counts: { pending: 5 } }, rest],
      candidates: [{ lane: 0, retries: [], pending: ones(1, 2, 3, 4, 5) }],
      slotsTaken: 10,
      createsWait,
    });
    const { blockers } = decide(full, now);
    expect(blockers).toMatchObject([{ kind: 'storeReturned', ...createsWait }, { kind: 'concurrency' }]);
    expect(blockers.map(blockerText)[0]).toBe(
      'after an outage of Redis no create request is sent until all earlier ones have arrived: 1 daemon has not confirmed that Redis kept all writes',
    );
  });

  it('wakes when its next retry is due (P9)', () => {
    const waves = [{ ...canary, counts: { succeeded: 4, retrying: 1 } }, rest];
    expect(decide(twoWaves({ waves, nextRetryAt: now + 1 }), now).wakeAt).toBe(now + 1);
  });

  it('starts the soak of a completed wave at its last change', () => {
    expect(actionsOf()).toEqual([
      { do: 'save', change: { kind: 'soakBegun', wave: 0, endsAt: startedAt + 1_800_000 } },
    ]);
  });

  it('opens the next wave when the one before has passed (P3)', () => {
    const waves = [{ ...canary, wave: passed }, rest];
    expect(actionsOf({ waves })).toContainEqual({ do: 'save', change: { kind: 'waveOpened', wave: 1 } });
  });

  it('lifts a brake without a reason', () => {
    expect(actionsOf({ braked: true })[0]).toEqual({ do: 'liftBrake' });
  });

  it('is held by a wave without an upgraded collector (P14)', () => {
    const waves = [{ ...canary, counts: { failed: 1, withdrawn: 4 } }, rest];
    expect(actionsOf({ waves })).toEqual([
      {
        do: 'hold',
        heldFor: { kind: 'evidence', wave: 0 },
        cause: {
          kind: 'noEvidence',
          wave: 'canary',
          ended: [
            { state: 'failed', upgrades: 1 },
            { state: 'withdrawn', upgrades: 4 },
          ],
        },
      },
    ]);
  });

  it('ends with its failures after a wave without an upgraded collector, where a hold would spare nobody', () => {
    const [held, ended] = [{ do: 'hold' }, { do: 'save', change: { kind: 'finished' } }];
    const lastOf = (counts: Counts) => [
      { ...canary, counts },
      { ...rest, counts: {} },
    ];
    expect(actionsOf({ waves: lastOf({ failed: 1, withdrawn: 4 }) })).toMatchObject([ended]);
    expect(actionsOf({ waves: lastOf({ withdrawn: 5 }) })).toMatchObject([held]);
    const last = { ...canary, name: 'rest', counts: { timedOut: 1 } };
    expect(actionsOf({ waves: [{ ...canary, wave: passed }, last] })).toMatchObject([ended]);
  });

  it('passes a wave without members', () => {
    expect(actionsOf({ waves: [{ ...canary, counts: {} }, rest] })).toEqual([
      { do: 'save', change: { kind: 'wavePassed', wave: 0 } },
    ]);
  });

  it('waits for running upgrades of waves that have passed, without a blocker for deferred ones', () => {
    const waves = [{ ...canary, counts: { succeeded: 3, upgrading: 1, deferred: 1 }, wave: passed }];
    expect(decide(twoWaves({ waves }), now)).toMatchObject({ actions: [], blockers: [] });
  });

  it('finishes with failures when an upgrade failed', () => {
    const waves = [canary, { counts: { succeeded: 19, failed: 1 } }].map((each) => ({
      ...each,
      wave: passed,
    }));
    const rule = { maxFailures: { kind: 'percent', percent: 5 } } as const;
    expect(actionsOf({ waves: waves.map((each) => ({ ...each, rule })) })).toEqual([
      { do: 'save', change: { kind: 'finished', state: 'finishedWithFailures' } },
    ]);
  });
});

describe('a rollout that does not run', () => {
  it.each(['held', 'paused', 'awaitingApproval'] as const)(
    'starts nothing while %s, and delivers overdue upgrades',
    (state) => {
      const view = twoWaves({
        overdue: [3],
        candidates: [{ lane: 0, retries: ones(8), pending: ones(1) }],
        rollout: { state, reason: askedFor('why') },
      });
      const decision = decide(view, now);
      expect(decision.actions).toEqual([{ do: 'deliver', collectorIds: [3] }]);
      const kind = state === 'awaitingApproval' ? 'planApproval' : state;
      expect(decision.blockers).toMatchObject([{ kind, until: null }]);
    },
  );

  const withdraw = { do: 'withdrawWaiting', reason: { kind: 'rolloutOver', state: 'aborted' } };
  it.each<[string, Counts, Counts, readonly unknown[]]>([
    ['withdraws waiting upgrades', { upgrading: 1, succeeded: 4 }, { pending: 20 }, [withdraw]],
    ['withdraws the last one, too', { succeeded: 5 }, { pending: 1 }, [withdraw]],
    ['withdraws one that has only a slot', { queued: 1, succeeded: 4 }, { withdrawn: 20 }, [withdraw]],
    ['watches running upgrades', { upgrading: 1, succeeded: 4 }, { withdrawn: 20 }, []],
    [
      'closes when all has ended',
      { succeeded: 5 },
      { withdrawn: 20 },
      [{ do: 'save', change: { kind: 'closed' } }],
    ],
  ])('%s after an abort', (_what, first, second, actions) => {
    const waves = [
      { ...canary, counts: first },
      { ...rest, counts: second },
    ];
    expect(actionsOf({ waves, rollout: { state: 'aborted' } })).toEqual(actions);
  });

  it('withdraws queued upgrades before it rolls back', () => {
    const waves = [{ ...canary, counts: { queued: 1, succeeded: 4 } }];
    const state = 'rollingBack';
    expect(actionsOf({ waves, rollout: { state } })).toEqual([
      { do: 'withdrawWaiting', reason: { kind: 'rolloutOver', state } },
    ]);
  });

  it('shows after an abort how many it withdraws, and how many it watches', () => {
    const waves = [{ ...canary, counts: { upgrading: 1, pending: 4 } }, rest];
    expect(decide(twoWaves({ waves, rollout: { state: 'aborted' } }), startedAt).blockers).toEqual([
      { kind: 'withdrawing', upgrades: 24, until: null },
      { kind: 'watching', upgrades: 1, until: null },
    ]);
  });
});
