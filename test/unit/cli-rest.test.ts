import { describe, expect, it } from 'vitest';
import { restOf } from '../../src/cli/rest.ts';
import { restWords } from '../../src/cli/rest-words.ts';
import type { RolloutStatus, WindowStatus } from '../../src/rollout/status.ts';
import { startedAt } from '../support/builders.ts';
import { aRolloutStatus, aWaveStatus, countsOf } from '../support/fake-operations.ts';

const minute = 60_000;
const hour = 60 * minute;
const idle = countsOf({ pending: 9, retrying: 1, deferred: 1 });
const closed: WindowStatus = {
  isOpen: false,
  until: startedAt + hour,
  reason: 'outside the window',
  timeZone: 'UTC',
  ownZones: false,
};
const open: WindowStatus = { ...closed, isOpen: true, until: startedAt + 3 * minute };
const holds = [
  { reason: 'later', until: startedAt + 2 * hour },
  { reason: 'a cap', until: null },
  { reason: 'outside the window', until: startedAt + hour },
];

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
    expect(rest({ window: closed, holds, counts })).toBeUndefined();
  });

  it('is not one that runs, nor one that was aborted and is not over', () => {
    expect(rest({})).toBeUndefined();
    expect(rest({ state: 'aborted', window: closed, holds })).toBeUndefined();
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
    const until = { kind: 'windowClosed', until: startedAt + hour };

    it('waits until the first opening', () => {
      expect(rest({ window: closed, holds })).toEqual(until);
    });

    it('does not rest where there is no window, nothing is waited for, or it opens within two minutes', () => {
      expect(rest({ holds })).toBeUndefined();
      expect(rest({ window: closed, holds: [{ reason: 'a cap', until: null }] })).toBeUndefined();
      const soon = (ms: number) => [{ reason: 'outside the window', until: startedAt + ms }];
      expect(rest({ window: closed, holds: soon(2 * minute) })).toBeUndefined();
      expect(rest({ window: closed, holds: soon(2 * minute + 1) })).toBeDefined();
    });

    it('does not rest while a wave soaks, which needs no window', () => {
      const waves = [aWaveStatus({ state: 'passed' }), aWaveStatus({ state: 'soaking' })];
      expect(rest({ window: closed, holds, waves })).toBeUndefined();
      const begun = [aWaveStatus({ state: 'passed' }), aWaveStatus(), aWaveStatus({ state: 'soaking' })];
      expect(rest({ window: closed, holds, waves: begun })).toEqual(until);
    });

    it('rests in an open window that closes too soon, but not for what the window has no part in', () => {
      expect(rest({ window: open, holds })).toEqual(until);
      const retry = [{ reason: 'the next retry is not due yet', until: startedAt + 3 * minute }];
      expect(rest({ window: open, holds: retry })).toBeUndefined();
      expect(rest({ window: { ...open, until: null }, holds })).toBeUndefined();
    });

    it('may be closed by the zones of the collectors alone', () => {
      const own = { ...open, until: startedAt + 9 * hour, ownZones: true };
      expect(rest({ window: own, holds })).toEqual(until);
    });
  });
});

describe('what is left to do after a run', () => {
  const status = aRolloutStatus();

  it('is to approve, where a daemon hears it', () => {
    expect(restWords(status, { kind: 'awaitsApproval' }, startedAt)).toBe(
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
