import { describe, expect, it } from 'vitest';
import { type HeadlineKind, headlineKinds } from '../../../../src/base/vocabulary.ts';
import { exitCodeOf } from '../../../../src/cli/shell/exit-codes.ts';
import type { Wave } from '../../../../src/rollout/model/rollout.ts';
import { describeRollout } from '../../../../src/rollout/status/status.ts';
import { anApiBudgetStatus, anOutage, aPolicy, askedFor, startedAt } from '../../../support/builders.ts';
import { aRolloutStatus } from '../../../support/fake-operations.ts';
import { aDeferredOne } from '../../../support/upgrade-cases.ts';
import { aViewOf, type ViewCase, type WaveCase, waiting } from '../../../support/view-cases.ts';

const minute = 60_000;
const hour = 60 * minute;
const now = startedAt;

/** A wave of ten of which one is upgraded; the rest could start. */
const view = (changes: ViewCase = {}) =>
  aViewOf({
    waves: [{ counts: { succeeded: 1, pending: 9 } }],
    candidates: [{ lane: 0, retries: [], pending: [{ collectorId: 1, order: 1 }] }],
    ...changes,
  });
const status = (changes: ViewCase = {}, at = now, api = anApiBudgetStatus()) =>
  describeRollout(view(changes), at, api);

// The window opens an hour after the beginning.
const windows = [{ days: [1, 2, 3, 4, 5, 6, 7], fromMinute: 22 * 60, toMinute: 23 * 60, timeZone: 'UTC' }];
const closed: ViewCase = { policy: { windows } };
const account = { kind: 'another', compared: 3, matched: 0, renamed: 0 } as const;
const implausible = {
  since: now,
  readAt: now,
  size: 0,
  missing: 9,
  why: { kind: 'empty', expected: 9 },
} as const;
const rollback = (state: 'held' | 'running'): ViewCase => ({
  rollback: { id: 'b', state, reason: askedFor(''), endedAt: null },
  rollout: { state: 'rollingBack', rollback: { startedAs: 'b' } },
});
const soaking: readonly WaveCase[] = [
  { counts: { succeeded: 10 }, wave: { state: 'soaking', soakEndsAt: now + minute } },
  { counts: { pending: 10 }, wave: waiting },
];
const awaiting = { state: 'awaitingApproval', openedAt: null } as const;
const approval = (wave: Partial<Wave>): ViewCase => ({
  waves: [{ rule: { approval: true }, wave: { ...awaiting, ...wave } }],
});
const running = { waves: [{ counts: { upgrading: 1, pending: 9 } }] };
const retrying = { ...closed, waves: [{ counts: { succeeded: 1, retrying: 9 } }], candidates: [] };
const shown = { waves: [{ counts: { succeeded: 9, deferred: 1 } }], candidates: [] };

describe('the headline of a rollout (P16)', () => {
  it.each<[string, HeadlineKind, boolean, ViewCase]>([
    ['a plan awaits approval', 'needsApproval', true, { rollout: { state: 'awaitingApproval' } }],
    ['a wave awaits approval', 'needsApproval', true, approval({})],
    ['a wave is approved', 'running', false, approval({ approvedAt: now })],
    ['it is of another account', 'otherAccount', true, { account }],
    ['the config lacks its policy', 'policyMissing', true, { isPolicyMissing: true }],
    ['the window is closed and nothing is running', 'waitsForWindow', false, closed],
    ['the window is closed and an upgrade is running', 'running', false, { ...closed, ...running }],
    ['a retry is due before the window', 'waitsForWindow', false, { ...retrying, nextRetryAt: now + minute }],
    ['a wave soaks while the window is closed', 'running', false, { ...closed, waves: soaking }],
    ['others of the wave of a deferred one have shown the build', 'running', false, shown],
    ['the inventory is implausible', 'waitsForInventory', false, { rollout: { inventory: { implausible } } }],
    ['it is a rollback', 'rollingBack', false, { rollout: { kind: 'rollback' } }],
    ['its rollback is held', 'rollingBack', true, rollback('held')],
    ['its rollback is running', 'rollingBack', false, rollback('running')],
  ])('when %s is %s, needs a person: %s', (_when, kind, needsPerson, changes) => {
    expect(status(changes).headline).toEqual({ kind, needsPerson });
  });

  it('shows until when it waits for the window', () => {
    expect(status(closed).waitsFor).toEqual({ kind: 'window', until: now + hour });
    expect(status(closed, now + hour).headline.kind).toBe('running');
    // The remaining window is shorter than an upgrade, so the next one is waited for.
    const slow = { ...closed.policy, upgrade: { ...aPolicy().upgrade, expectMs: 50 * minute } };
    expect(status({ policy: slow }, now + 75 * minute).waitsFor?.until).toBe(now + 25 * hour);
  });

  it.each([
    ['of the rollout', { counts: { succeeded: 9, deferred: 1 }, wave: { state: 'passed' } }],
    ['of a wave that shows nothing yet', { counts: { deferred: 1 } }],
  ] as const)('shows that only deferred collectors remain, %s', (_where, wave) => {
    const deferred = [aDeferredOne({ dueAt: now + minute })];
    expect(status({ waves: [wave], candidates: [], deferred })).toMatchObject({
      headline: { kind: 'waitsForCollectors', needsPerson: false },
      waitsFor: { kind: 'collectors', until: now + aPolicy().defer.upToMs },
    });
  });

  it('shows that the service is down, but not a pause', () => {
    const during = (kind: 'serviceDown' | 'rateLimited') =>
      status({}, now, anApiBudgetStatus({ outage: anOutage({ kind }) })).headline.kind;
    expect([during('serviceDown'), during('rateLimited')]).toEqual(['waitsForService', 'running']);
  });
});

describe('the exit code of rollouts', () => {
  const statusOf = (kind: HeadlineKind, needsPerson = false) => ({
    ...aRolloutStatus(),
    headline: { kind, needsPerson },
  });

  it('is 3 when a person is needed, else 1 when a rollout ended badly, else 0', () => {
    const badEnds: readonly HeadlineKind[] = ['finishedWithFailures', 'aborted', 'rolledBack', 'superseded'];
    for (const kind of headlineKinds) {
      expect(exitCodeOf([statusOf(kind, true)]), kind).toBe(3);
      expect(exitCodeOf([statusOf(kind)]), kind).toBe(badEnds.includes(kind) ? 1 : 0);
    }
    expect(exitCodeOf([statusOf('aborted'), statusOf('held', true)])).toBe(3);
    expect(exitCodeOf([])).toBe(0);
  });
});
