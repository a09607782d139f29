import { describe, expect, it } from 'vitest';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import { blockerText } from '../../../../src/rollout/messages/blockers.ts';
import type { UnreadableRecords } from '../../../../src/rollout/model/rollout.ts';
import { askedFor, type RolloutChanges, startedAt } from '../../../support/builders.ts';
import { aViewOf, type Counts, type ViewCase } from '../../../support/view-cases.ts';

const now = startedAt + 60_000;
const keys = ['upwave:{production}:records 7'];
const cause = { kind: 'recordsUnreadable', keys } as const;

function decideWith(
  rollout: RolloutChanges,
  counts: Counts,
  unreadable: Partial<UnreadableRecords> = {},
  more: ViewCase = {},
) {
  const unreadableRecords = { keys, waiting: 0, mayRun: 0, ...unreadable };
  return decide(aViewOf({ waves: [{ counts }], rollout, unreadableRecords, ...more }), now);
}

describe('unreadable records', () => {
  it('hold a running rollout, also those of upgrades that have ended (P14)', () => {
    const { actions, blockers } = decideWith({}, { succeeded: 3, pending: 2 });
    expect(actions).toEqual([{ do: 'hold', cause }]);
    expect(blockers.map(blockerText)).toEqual([
      '1 record in Redis is unreadable: upwave:{production}:records 7. Nothing starts, and running upgrades are watched to their end. Save all records with `upwave export`, then abort; or restore the record and resume',
    ]);
  });

  it('are a blocker beside another stop, unless its reason names them', () => {
    const paused = decideWith({ state: 'paused', reason: askedFor('lunch') }, { pending: 2 });
    expect(paused.blockers).toMatchObject([{ kind: 'paused' }, cause]);
    expect(decideWith({ state: 'held', reason: cause }, {}).blockers).toMatchObject([{ kind: 'held' }]);
    const older = { ...cause, keys: ['another'] };
    expect(decideWith({ state: 'held', reason: older }, {}).blockers).toMatchObject([
      { kind: 'held' },
      cause,
    ]);
  });

  it('do not keep an aborted rollout open, once the others have ended', () => {
    const aborted = { state: 'aborted', reason: askedFor('corrupt') } as const;
    const withdrawn = decideWith(aborted, { pending: 2 }, { waiting: 1 });
    expect(withdrawn.actions).toMatchObject([{ do: 'withdrawWaiting' }]);
    const closed = [{ do: 'save', change: { kind: 'closed' } }];
    expect(decideWith(aborted, { pending: 1 }, { waiting: 1 }).actions).toEqual(closed);
    const mayRun = decideWith(aborted, { upgrading: 1 }, { mayRun: 1 });
    expect(mayRun).toMatchObject({ actions: [], blockers: [{ kind: 'watching' }, cause] });
    expect(mayRun.wakeAt).toBeGreaterThan(now);
  });

  it('do not keep a rollback from its plan', () => {
    const rollingBack = { state: 'rollingBack', reason: askedFor('bad build') } as const;
    expect(decideWith(rollingBack, { pending: 1, succeeded: 4 }, { waiting: 1 }).actions).toEqual([
      { do: 'beginRollback' },
    ]);
  });

  it('do not keep an aborted rollout of another account open', () => {
    const aborted = { state: 'aborted', reason: askedFor('corrupt') } as const;
    const account = { account: { kind: 'another', compared: 8, matched: 0, renamed: 0 } } as const;
    const { actions, blockers, wakeAt } = decideWith(aborted, { pending: 1 }, { waiting: 1 }, account);
    expect(actions).toEqual([]);
    expect(blockers).toMatchObject([{ kind: 'abandoning' }, cause]);
    expect(wakeAt).toBeGreaterThan(now);
  });
});
