import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../../../src/cli/shell/exit-codes.ts';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import type { Rollout, RolloutView } from '../../../../src/rollout/model/rollout.ts';
import { type HeadlineKind, headlineKinds } from '../../../../src/rollout/status/headline.ts';
import { describeRollout } from '../../../../src/rollout/status/status.ts';
import {
  anApiBudgetStatus,
  anUpgrade,
  aPolicy,
  aRollout,
  aStandstill,
  aSummary,
  aView,
  aWave,
  aWaveRule,
  because,
  startedAt,
} from '../../../support/builders.ts';
import { aRolloutStatus } from '../../../support/fake-operations.ts';

const minute = 60_000;
const hour = 60 * minute;
const now = startedAt;
const openAllNight = [
  { days: [1, 2, 3, 4, 5, 6, 7], fromMinute: 22 * 60, toMinute: 23 * 60, timeZone: 'UTC' },
];
const pending = [{ lane: 0, retries: [], pending: [{ collectorId: 1, order: 1 }] }];

/** A wave of ten of which one is upgraded; the rest could start. */
function view(
  changes: Partial<RolloutView> = {},
  rollout: Partial<Rollout> = {},
  policy: Partial<Policy> = {},
): RolloutView {
  return aView({
    rollout: aRollout({ policy: aPolicy({ waves: [aWaveRule()], ...policy }), waves: [aWave()], ...rollout }),
    waves: [aSummary({ succeeded: 1, pending: 9 }, { lastChangeAt: startedAt })],
    candidates: pending,
    ...changes,
  });
}

const headline = (of: RolloutView, api = anApiBudgetStatus()) => describeRollout(of, now, api).headline;
const kindOf = (of: RolloutView, api = anApiBudgetStatus()) => headline(of, api).kind;

describe('the headline of a rollout (P16)', () => {
  it('says that an approval is needed, of the plan or of a wave', () => {
    const needed = { kind: 'needsApproval', needsPerson: true };
    const awaiting = aWave({ state: 'awaitingApproval', openedAt: null });
    const policy = { waves: [aWaveRule({ approval: true })] };
    expect(headline(view({}, { state: 'awaitingApproval' }))).toEqual(needed);
    expect(headline(view({}, { waves: [awaiting] }, policy))).toEqual(needed);
    expect(kindOf(view({}, { waves: [{ ...awaiting, approvedAt: now }] }, policy))).toBe('running');
  });

  it('says that it belongs to another account, unless it ends there', () => {
    const account = { kind: 'another', compared: 3, matched: 0, renamed: 0 } as const;
    expect(headline(view({ account }))).toEqual({ kind: 'otherAccount', needsPerson: true });
    expect(headline(view({ account }, { state: 'aborted' }))).toEqual({
      kind: 'aborted',
      needsPerson: false,
    });
  });

  it('says that it waits for a window once nothing is in flight', () => {
    const closed = { windows: openAllNight };
    expect(headline(view({}, {}, closed))).toEqual({ kind: 'waitsForWindow', needsPerson: false });
    expect(describeRollout(view({}, {}, closed), now, anApiBudgetStatus()).waitsFor).toEqual({
      kind: 'window',
      until: startedAt + hour,
    });
    const running = [aSummary({ upgrading: 1, pending: 9 })];
    expect(kindOf(view({ waves: running }, {}, closed))).toBe('running');
    expect(describeRollout(view({}, {}, closed), startedAt + hour, anApiBudgetStatus()).headline.kind).toBe(
      'running',
    );
    // All of the window is less than an upgrade takes, so the next one is waited for.
    const short = { ...closed, upgrade: { ...aPolicy().upgrade, expectMs: 50 * minute } };
    const late = startedAt + hour + 15 * minute;
    expect(describeRollout(view({}, {}, short), late, anApiBudgetStatus()).waitsFor?.until).toBe(
      startedAt + 25 * hour,
    );
  });

  it('says that a retry waits for a window when the window is what it waits for', () => {
    const closed = { windows: openAllNight };
    const retrying = { waves: [aSummary({ succeeded: 1, retrying: 9 })], candidates: [] };
    expect(kindOf(view({ ...retrying, nextRetryAt: now + minute }, {}, closed))).toBe('waitsForWindow');
    expect(kindOf(view({ ...retrying, nextRetryAt: now + hour }, {}, closed))).toBe('running');
  });

  it('does not wait for a window while a wave soaks', () => {
    const soaking = aWave({ state: 'soaking', soakEndsAt: now + minute });
    const waves = [aSummary({ succeeded: 10 }), aSummary({ pending: 10 })];
    const of = view({ waves }, { waves: [soaking, aWave({ state: 'waiting' })] }, { windows: openAllNight });
    expect(kindOf(of)).toBe('running');
  });

  it('says that only deferred collectors remain, of the rollout or of a wave that shows nothing yet', () => {
    const deferred = (wave = 0) =>
      anUpgrade(
        {
          state: 'deferred',
          condition: 'notAlive',
          since: now,
          dueAt: now + minute,
          reason: because('it is offline'),
        },
        { wave },
      ) as Extract<ReturnType<typeof anUpgrade>, { state: 'deferred' }>;
    const upToMs = aPolicy().defer.upToMs;
    const waitsFor = { kind: 'collectors', until: now + upToMs };
    const left = view(
      { waves: [aSummary({ succeeded: 9, deferred: 1 })], candidates: [], deferred: [deferred()] },
      { waves: [aWave({ state: 'passed' })] },
    );
    expect(describeRollout(left, now, anApiBudgetStatus())).toMatchObject({
      headline: { kind: 'waitsForCollectors', needsPerson: false },
      waitsFor,
    });
    const canary = view({ waves: [aSummary({ deferred: 1 })], candidates: [], deferred: [deferred()] });
    expect(describeRollout(canary, now, anApiBudgetStatus()).waitsFor).toEqual(waitsFor);
    // Others of the wave have shown the build: it goes on without the deferred one.
    const shown = [aSummary({ succeeded: 9, deferred: 1 })];
    expect(kindOf(view({ waves: shown, candidates: [] }))).toBe('running');
  });

  it('says that the service is down, or that the inventory is not believed', () => {
    const down = { ...anApiBudgetStatus(), standstill: aStandstill({ kind: 'serviceDown' }) };
    expect(kindOf(view(), down)).toBe('waitsForService');
    expect(kindOf(view(), { ...anApiBudgetStatus(), standstill: aStandstill() })).toBe('running');
    const doubt = {
      since: now,
      readAt: now,
      size: 0,
      missing: 9,
      why: { kind: 'empty', expected: 9 },
    } as const;
    expect(kindOf(view({}, { doubt }))).toBe('waitsForInventory');
  });

  it('says that it rolls back, and that a person is needed when its rollback is stopped', () => {
    expect(headline(view({}, { kind: 'rollback' }))).toEqual({ kind: 'rollingBack', needsPerson: false });
    const rollback = { id: 'b', state: 'held', reason: because(''), endedAt: null } as const;
    const taken = (state: 'held' | 'running') =>
      headline(view({ rollback: { ...rollback, state } }, { state: 'rollingBack', rollbackId: 'b' }));
    expect(taken('held')).toEqual({ kind: 'rollingBack', needsPerson: true });
    expect(taken('running')).toEqual({ kind: 'rollingBack', needsPerson: false });
  });
});

describe('the exit code of rollouts', () => {
  const status = (kind: HeadlineKind, needsPerson = false) => ({
    ...aRolloutStatus(),
    headline: { kind, needsPerson },
  });

  it('is 3 where a person is needed, then 1 where one did not come to what was asked, else 0', () => {
    const badEnds: readonly HeadlineKind[] = ['finishedWithFailures', 'aborted', 'rolledBack', 'superseded'];
    for (const kind of headlineKinds) {
      expect(exitCodeOf([status(kind, true)]), kind).toBe(3);
      expect(exitCodeOf([status(kind)]), kind).toBe(badEnds.includes(kind) ? 1 : 0);
    }
    expect(exitCodeOf([status('aborted'), status('held', true)])).toBe(3);
    expect(exitCodeOf([])).toBe(0);
  });
});
