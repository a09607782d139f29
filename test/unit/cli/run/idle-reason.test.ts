import { describe, expect, it } from 'vitest';
import { restOf, restWords } from '../../../../src/cli/run/idle-reason.ts';
import type { RolloutStatus } from '../../../../src/rollout/status/status.ts';
import { startedAt } from '../../../support/builders.ts';
import { aRolloutStatus, aWaveStatus, countsOf } from '../../../support/fake-operations.ts';

const minute = 60_000;
const hour = 60 * minute;
const idle = countsOf({ pending: 9, retrying: 1, deferred: 1 });
function rest(changes: Partial<RolloutStatus>, ...others: readonly RolloutStatus[]) {
  const status = aRolloutStatus({ counts: idle, ...changes });
  return restOf(status, [status, ...others], startedAt);
}

describe('a rollout at rest', () => {
  it('has ended, or is held or paused with nothing on its way', () => {
    expect(rest({ endedAt: startedAt, counts: countsOf({ upgrading: 1 }) })).toEqual({ kind: 'ended' });
    expect(rest({ state: 'held' })).toEqual({ kind: 'held' });
    expect(rest({ state: 'paused' })).toEqual({ kind: 'held' });
  });

  it('belongs to another account, whatever is on its way: nobody here watches that', () => {
    const counts = countsOf({ upgrading: 3 });
    expect(rest({ account: 'another', counts })).toEqual({ kind: 'foreign' });
    expect(rest({ account: 'unclear', counts })).toEqual({ kind: 'foreign' });
    // It is being found out.
    expect(rest({ account: 'unknown', counts })).toBeUndefined();
  });

  it.each(['queued', 'starting', 'upgrading', 'verifying'] as const)('has nobody who is %s', (state) => {
    const counts = countsOf({ [state]: 1 });
    expect(rest({ state: 'held', counts })).toBeUndefined();
    expect(rest({ state: 'awaitingApproval', counts })).toBeUndefined();
    expect(rest({ waitsFor: { kind: 'window', until: startedAt + hour }, counts })).toBeUndefined();
  });

  it('waits for approval', () => {
    expect(rest({ state: 'awaitingApproval' })).toEqual({ kind: 'awaitsApproval' });
    const waves = [aWaveStatus({ state: 'awaitingApproval', waits: 'approval' })];
    expect(rest({ waves })).toEqual({ kind: 'awaitsApproval' });
  });

  it('is not one whose rollback is under way', () => {
    const taken = { state: 'rollingBack', rollbackId: 'b' } as const;
    const rollback = (changes: Partial<RolloutStatus>) =>
      aRolloutStatus({ id: 'b', counts: idle, ...changes });
    expect(rest({ ...taken, rollbackId: null })).toBeUndefined();
    expect(rest(taken)).toBeUndefined();
    expect(rest(taken, rollback({}))).toBeUndefined();
    expect(rest(taken, rollback({ endedAt: startedAt }))).toBeUndefined();
    expect(rest(taken, rollback({ state: 'held' }))).toEqual({ kind: 'held' });
  });

  describe('whose window is closed', () => {
    const closedFor = (ms: number | null) =>
      rest({ waitsFor: { kind: 'window', until: ms === null ? null : startedAt + ms } });

    it('waits until the first opening, also where none is known', () => {
      expect(closedFor(hour)).toEqual({ kind: 'windowClosed', until: startedAt + hour });
      expect(closedFor(null)).toEqual({ kind: 'windowClosed', until: null });
    });

    it('does not rest where it opens within two minutes', () => {
      expect(closedFor(2 * minute)).toBeUndefined();
      expect(closedFor(2 * minute + 1)).toBeDefined();
    });
  });
});

describe('what is left to do after a run', () => {
  const status = aRolloutStatus();

  it('is to approve, where a daemon hears it', () => {
    expect(restWords({ ...status, state: 'awaitingApproval' }, { kind: 'awaitsApproval' }, startedAt)).toBe(
      'production-20260302-1 waits for approval: upwave approve production --plan 7f3a, while `upwave run` is running',
    );
  });

  it('is to come back when the window opens', () => {
    expect(restWords(status, { kind: 'windowClosed', until: startedAt + 50 * hour }, startedAt)).toMatch(
      /^production-20260302-1: the window is closed until 2026-03-0[45] \d\d:\d\d; run it again then, or with --wait$/,
    );
  });

  it('is nothing that the status does not say', () => {
    for (const kind of ['ended', 'held'] as const)
      expect(restWords(status, { kind }, startedAt)).toBeUndefined();
    expect(restWords(status, undefined, startedAt)).toBeUndefined();
    const taken = aRolloutStatus({ state: 'rollingBack' });
    expect(restWords(taken, { kind: 'awaitsApproval' }, startedAt)).toBeUndefined();
  });
});
