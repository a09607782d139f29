import { describe, expect, it } from 'vitest';
import { restOf, restText } from '../../../../src/cli/run/idle-reason.ts';
import type { RolloutStatus } from '../../../../src/contract/admin/rollout-status.ts';
import { startedAt } from '../../../support/builders.ts';
import { aRolloutStatus, aWaveStatus, countsOf } from '../../../support/fake-operations.ts';

const minute = 60_000;
const hour = 60 * minute;
const idle = countsOf({ pending: 9, retrying: 1, deferred: 1 });
function rest(changes: Partial<RolloutStatus>, ...others: readonly RolloutStatus[]) {
  const status = aRolloutStatus({ counts: idle, ...changes });
  return restOf(status, [status, ...others], startedAt);
}

const inFlight = countsOf({ upgrading: 3 });
const closedFor = (ms: number | null): Partial<RolloutStatus> => ({
  waitsFor: { kind: 'window', until: ms === null ? null : startedAt + ms },
});
const awaiting = [aWaveStatus({ state: 'awaitingApproval', waits: 'approval' })];

describe('a rollout at rest', () => {
  it.each<readonly [which: string, changes: Partial<RolloutStatus>, why: ReturnType<typeof rest>]>([
    ['has ended', { endedAt: startedAt, counts: inFlight }, { kind: 'ended' }],
    ['is held with nothing on its way', { state: 'held' }, { kind: 'held' }],
    ['is paused with nothing on its way', { state: 'paused' }, { kind: 'held' }],
    // Even with upgrades in flight, because this daemon does not watch them.
    ['belongs to another account', { account: 'another', counts: inFlight }, { kind: 'foreign' }],
    ['may belong to another account', { account: 'unclear', counts: inFlight }, { kind: 'foreign' }],
    ['waits for approval', { state: 'awaitingApproval' }, { kind: 'awaitsApproval' }],
    ['waits for approval of a wave', { waves: awaiting }, { kind: 'awaitsApproval' }],
    ['waits for its window', closedFor(hour), { kind: 'windowClosed', until: startedAt + hour }],
    ['waits for a window that is not known', closedFor(null), { kind: 'windowClosed', until: null }],
  ])('%s', (_which, changes, why) => {
    expect(rest(changes)).toEqual(why);
  });

  it('is not one whose account is still unknown, or whose window opens within two minutes', () => {
    expect(rest({ account: 'unknown', counts: inFlight })).toBeUndefined();
    expect(rest(closedFor(2 * minute))).toBeUndefined();
    expect(rest(closedFor(2 * minute + 1))).toBeDefined();
  });

  it.each(['queued', 'starting', 'upgrading', 'verifying'] as const)(
    'has no collector that is %s',
    (state) => {
      const counts = countsOf({ [state]: 1 });
      for (const changes of [{ state: 'held' }, { state: 'awaitingApproval' }, closedFor(hour)] as const)
        expect(rest({ ...changes, counts })).toBeUndefined();
    },
  );

  it('is not one with a running rollback', () => {
    const taken = { state: 'rollingBack', rollbackId: 'b' } as const;
    const rollback = (changes: Partial<RolloutStatus>) =>
      aRolloutStatus({ id: 'b', counts: idle, ...changes });
    expect(rest({ ...taken, rollbackId: null })).toBeUndefined();
    expect(rest(taken)).toBeUndefined();
    expect(rest(taken, rollback({}))).toBeUndefined();
    expect(rest(taken, rollback({ endedAt: startedAt }))).toBeUndefined();
    expect(rest(taken, rollback({ state: 'held' }))).toEqual({ kind: 'held' });
  });
});

describe('the remaining work after a run', () => {
  const status = aRolloutStatus();

  it('is to approve while a daemon is running', () => {
    expect(restText({ ...status, state: 'awaitingApproval' }, { kind: 'awaitsApproval' }, startedAt)).toBe(
      'production-20260302-1 waits for approval: upwave approve production --plan 7f3a, while `upwave run` is running',
    );
  });

  it('is to come back when the window opens', () => {
    expect(restText(status, { kind: 'windowClosed', until: startedAt + 50 * hour }, startedAt)).toMatch(
      /^production-20260302-1: the window is closed until 2026-03-0[45] \d\d:\d\d \S+; run it again then, or with --wait$/,
    );
  });

  it('is empty where the status is enough', () => {
    for (const kind of ['ended', 'held'] as const)
      expect(restText(status, { kind }, startedAt)).toBeUndefined();
    expect(restText(status, undefined, startedAt)).toBeUndefined();
    const taken = aRolloutStatus({ state: 'rollingBack' });
    expect(restText(taken, { kind: 'awaitsApproval' }, startedAt)).toBeUndefined();
  });
});
