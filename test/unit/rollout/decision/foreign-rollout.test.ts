import { describe, expect, it } from 'vitest';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import type { AccountStatus } from '../../../../src/rollout/model/account.ts';
import type { RolloutState, RolloutView } from '../../../../src/rollout/model/rollout.ts';
import { describeRollout } from '../../../../src/rollout/status/status.ts';
import { judgeVerb, rolloutVerbs } from '../../../../src/rollout/verbs/judge-verb.ts';
import {
  anApiBudgetStatus,
  anUpgradingOne,
  because,
  type RolloutChanges,
  startedAt,
} from '../../../support/builders.ts';
import { asShown } from '../../../support/night/as-shown.ts';
import { afterFacts, aQueuedOne } from '../../../support/upgrade-cases.ts';
import { aViewOf, type Counts } from '../../../support/view-cases.ts';

const own: AccountStatus = { kind: 'own' };
const another: AccountStatus = { kind: 'another', compared: 8, matched: 0, renamed: 0 };
const unknown: AccountStatus = { kind: 'unknown', reason: '' };
const now = startedAt + 60_000;

/** A view in which there would be a lot to do. */
function aForeignView(
  account: AccountStatus,
  state: RolloutState = 'running',
  counts: Counts = { pending: 6, upgrading: 4 },
): RolloutView {
  return aViewOf({
    account,
    rollout: { state },
    waves: [{ counts }],
    candidates: [{ lane: 0, retries: [], pending: [{ collectorId: 1, order: 1 }] }],
    overdue: [1, 2],
    braked: true,
  });
}

const judge = (view: RolloutView, verb: (typeof rolloutVerbs)[number]) =>
  judgeVerb(view, asShown(view, verb), { by: 'ann', reason: '', at: now }).kind;

describe('a rollout of another account (P5)', () => {
  it.each(['running', 'held', 'paused', 'awaitingApproval', 'rollingBack'] as const)(
    'is not changed while it is %s, and shows a blocker',
    (state) => {
      for (const account of [another, unknown])
        expect(decide(aForeignView(account, state), now)).toMatchObject({
          actions: [],
          blockers: [expect.anything()],
        });
    },
  );

  it('is not changed while its account is unknown, also when it was aborted (P14)', () => {
    expect(decide(aForeignView(unknown, 'aborted'), now).actions).toEqual([]);
  });

  it('withdraws waiting upgrades when an operator has aborted it', () => {
    expect(decide(aForeignView(another, 'aborted'), now).actions).toEqual([
      { do: 'withdrawWaiting', reason: { kind: 'rolloutOver', state: 'aborted' } },
    ]);
    const over = aForeignView(another, 'aborted', { withdrawn: 10 });
    expect(decide(over, now).actions).toEqual([{ do: 'save', change: { kind: 'closed' } }]);
  });

  it('then gives up running upgrades, but not before their deadlines are over (P1)', () => {
    const view = aForeignView(another, 'aborted', { upgrading: 4 });
    // The last change of an upgrade, its deadline of 35 minutes, and 10 for the verification.
    const overAt = startedAt + 45 * 60_000;
    const waits = decide(view, overAt - 1);
    expect(waits).toMatchObject({ actions: [], blockers: [{ until: overAt }], wakeAt: overAt });
    expect(decide(view, overAt).actions).toMatchObject([{ do: 'abandon' }]);
  });

  it('accepts only pause and abort', () => {
    const view = aForeignView(another);
    expect(rolloutVerbs.filter((verb) => judge(view, verb) === 'change')).toEqual(['pause', 'abort']);
    expect(describeRollout(view, now, anApiBudgetStatus())).toMatchObject({
      account: 'another',
      eta: { kind: 'unknown', reason: 'account' },
    });
  });

  it('can be aborted while it rolls back, because this account cannot finish the rollback (P9)', () => {
    expect(judge(aForeignView(another, 'rollingBack', { succeeded: 2 }), 'abort')).toBe('change');
    expect(judge(aForeignView(own, 'rollingBack', { succeeded: 2 }), 'abort')).toBe('refused');
  });

  it('is led by the daemon of its own account', () => {
    expect(decide(aForeignView(own), now).actions.length).toBeGreaterThan(0);
  });
});

describe('a rollback that waits for a plausible inventory', () => {
  const why = { kind: 'empty', expected: 2 } as const;
  const implausible = { since: startedAt, readAt: startedAt, why, size: 0, missing: 2 };
  const abort = (changes: RolloutChanges) =>
    judge(
      aViewOf({
        waves: [{ counts: { succeeded: 2 } }],
        rollout: { state: 'rollingBack', inventory: { implausible }, ...changes },
      }),
      'abort',
    );

  it('can be aborted, because nothing else ends it when the fleet is gone (P9)', () => {
    expect(abort({})).toBe('change');
  });

  it('is aborted through the rollout of the rollback, once that exists', () => {
    expect(abort({ rollback: { startedAs: 'production-20260302-2' } })).toBe('refused');
  });
});

describe('an upgrade that is given up', () => {
  const abandoned = { kind: 'abandoned', at: now, reason: because('unwatched') } as const;
  const ended = afterFacts(anUpgradingOne(), abandoned);

  it('is unconfirmed when it may have run, and withdrawn when it had not started (P9, P10)', () => {
    expect(ended).toMatchObject({ progress: { state: 'unconfirmed', endedAt: now } });
    expect(afterFacts(aQueuedOne(), abandoned).progress.state).toBe('withdrawn');
  });

  it('stays as it is when it has ended', () => {
    expect(afterFacts(ended, { ...abandoned, at: now + 1 })).toBe(ended);
  });
});
