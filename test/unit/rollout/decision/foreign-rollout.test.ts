import { describe, expect, it } from 'vitest';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import type { AccountStatus } from '../../../../src/rollout/model/account.ts';
import type { RolloutState } from '../../../../src/rollout/model/rollout.ts';
import type { UpgradeState } from '../../../../src/rollout/model/upgrade.ts';
import { describeRollout } from '../../../../src/rollout/status/status.ts';
import { evolve } from '../../../../src/rollout/upgrade/evolve.ts';
import { judgeVerb, rolloutVerbs } from '../../../../src/rollout/verbs/verbs.ts';
import {
  aContext,
  anApiBudgetStatus,
  anUpgrade,
  anUpgradingOne,
  aRollout,
  aSummary,
  aView,
  because,
  startedAt,
} from '../../../support/builders.ts';
import { asShown } from '../../../support/night/as-shown.ts';

const another: AccountStatus = { kind: 'another', compared: 8, matched: 0, renamed: 0 };
const unknown: AccountStatus = { kind: 'unknown', reason: '' };
const now = startedAt + 60_000;

/** A view in which there would be a lot to do. */
function aForeignView(
  account: AccountStatus,
  state: RolloutState = 'running',
  counts: Partial<Record<UpgradeState, number>> = { pending: 6, upgrading: 4 },
) {
  return aView({
    account,
    rollout: aRollout({ state }),
    waves: [aSummary(counts)],
    candidates: [{ lane: 0, retries: [], pending: [{ collectorId: 1, order: 1 }] }],
    overdue: [1, 2],
    braked: true,
  });
}

describe('a rollout of another account (P5)', () => {
  it.each(['running', 'held', 'paused', 'awaitingApproval', 'rollingBack'] as const)(
    'is left alone while it is %s, and says why',
    (state) => {
      for (const account of [another, unknown]) {
        const { actions, blockers } = decide(aForeignView(account, state), now);
        expect(actions).toEqual([]);
        expect(blockers).toHaveLength(1);
      }
    },
  );

  it('is left alone as long as nobody knows whose it is, also when it was ended (P14)', () => {
    expect(decide(aForeignView(unknown, 'aborted'), now).actions).toEqual([]);
  });

  it('is brought to its end when an operator aborted it: first what waits is withdrawn', () => {
    expect(decide(aForeignView(another, 'aborted'), now).actions).toEqual([
      { do: 'withdrawWaiting', reason: { kind: 'rolloutOver', state: 'aborted' } },
    ]);
  });

  it('then what may run is given up, not before the service must have ended it (P1)', () => {
    const view = aForeignView(another, 'aborted', { upgrading: 4 });
    // The last change of an upgrade, its deadline of 35 minutes, and 10 for the verification.
    const overAt = startedAt + 45 * 60_000;
    const waits = decide(view, overAt - 1);
    expect(waits).toMatchObject({ actions: [], blockers: [{ until: overAt }], wakeAt: overAt });
    expect(decide(view, overAt).actions).toMatchObject([{ do: 'abandon' }]);
  });

  it('is over when all of it has ended', () => {
    expect(decide(aForeignView(another, 'aborted', { withdrawn: 10 }), now).actions).toEqual([
      { do: 'close' },
    ]);
  });

  it('takes brakes alone', () => {
    const view = aForeignView(another);
    const words = { by: 'ann', reason: '', at: now };
    const taken = rolloutVerbs.filter(
      (verb) => judgeVerb(view, asShown(view, verb), words).kind === 'change',
    );
    expect(taken).toEqual(['pause', 'abort']);
    const status = describeRollout(view, now, anApiBudgetStatus());
    expect(status.verbs).toEqual(['pause', 'abort']);
    expect(status).toMatchObject({ account: 'another', eta: { kind: 'unknown', reason: 'account' } });
  });

  it('can be aborted also while it rolls back, which nobody here can bring to its end (P9)', () => {
    const view = aForeignView(another, 'rollingBack', { succeeded: 2 });
    const words = { by: 'ann', reason: '', at: now };
    expect(judgeVerb(view, { verb: 'abort' }, words)).toMatchObject({
      kind: 'change',
      fact: { kind: 'aborted' },
    });
    expect(describeRollout(view, now, anApiBudgetStatus()).verbs).toContain('abort');
    expect(judgeVerb({ ...view, account: { kind: 'own' } }, { verb: 'abort' }, words).kind).toBe('refused');
  });

  it('is worked on by the daemon of its own account', () => {
    expect(decide(aForeignView({ kind: 'own' }), now).actions.length).toBeGreaterThan(0);
  });
});

describe('a rollback that waits for a plausible inventory', () => {
  const doubt = {
    since: startedAt,
    readAt: startedAt,
    why: { kind: 'empty', expected: 2 },
    size: 0,
    missing: 2,
  } as const;
  const words = { by: 'ann', reason: '', at: now };

  it('can be aborted, since the whole fleet may be gone, and nothing else ends it (P9)', () => {
    const view = aView({
      rollout: aRollout({ state: 'rollingBack', doubt }),
      waves: [aSummary({ succeeded: 2 })],
    });
    expect(judgeVerb(view, { verb: 'abort' }, words)).toMatchObject({
      kind: 'change',
      fact: { kind: 'aborted' },
    });
  });

  it('is aborted by its own rollout once there is one', () => {
    const rollout = aRollout({ state: 'rollingBack', doubt, rollbackId: 'production-20260302-2' });
    const view = aView({ rollout, waves: [aSummary({ succeeded: 2 })] });
    expect(judgeVerb(view, { verb: 'abort' }, words).kind).toBe('refused');
  });
});

describe('an upgrade that is given up', () => {
  const abandoned = { kind: 'abandoned', at: now, reason: because('unwatched') } as const;

  it('is unconfirmed when it may have run, and withdrawn when it had not started (P9, P10)', () => {
    expect(evolve(anUpgradingOne(), abandoned, aContext())).toMatchObject({
      progress: { state: 'unconfirmed', endedAt: now },
    });
    const queued = anUpgrade({ state: 'queued', dueAt: 0, freshAt: 0, startBy: null });
    expect(evolve(queued, abandoned, aContext()).progress.state).toBe('withdrawn');
  });

  it('stays as it is when it has ended', () => {
    const ended = evolve(anUpgradingOne(), abandoned, aContext());
    expect(evolve(ended, { ...abandoned, at: now + 1 }, aContext())).toBe(ended);
  });
});
