import { describe, expect, it } from 'vitest';
import type { RolloutStatus } from '../../../../src/contract/admin/rollout-status.ts';
import {
  dueText,
  headlineWords,
  namedBlocker,
  needText,
} from '../../../../src/rollout/messages/need-texts.ts';
import { startedAt } from '../../../support/builders.ts';
import { aRolloutStatus, aWaveStatus, countsOf } from '../../../support/fake-operations.ts';
import { aHeldStratum, strataHolding } from '../../../support/status-parts.ts';

const showAt = (at: number, hasSeconds = false) => new Date(at).toISOString().slice(11, hasSeconds ? 19 : 16);
const buildHold = { build: '19.536-4', by: 'alice', reason: 'crashes', at: startedAt };

describe('what a rollout needs from a person', () => {
  it.each<[RolloutStatus['headline']['kind'], Partial<RolloutStatus>, string, string]>([
    ['needsApproval', { state: 'awaitingApproval' }, 'approve the plan', 'Check plan 7f3a first.'],
    [
      'needsApproval',
      {
        state: 'running',
        waves: [
          aWaveStatus({
            ...{ name: 'rest', size: 9, state: 'awaitingApproval', setAside: 3, waits: 'approval' },
            counts: countsOf({ pending: 8, succeeded: 1 }),
          }),
        ],
      },
      'approve wave rest',
      '5 collectors wait for it, and 3 are set aside.',
    ],
    [
      'needsApproval',
      { state: 'awaitingApproval', buildHold },
      'build held, approval due',
      'Release build 19.536-4 and approve plan 7f3a, or abort.',
    ],
    [
      'held',
      { state: 'held', reasonKind: 'failures', reason: 'too many failures', verbs: ['resume', 'abort'] },
      'it is held',
      'Too many failures. Check the cause, then resume or abort.',
    ],
    [
      'held',
      {
        ...{ state: 'held', reasonKind: 'failures', reason: 'too many failures', verbs: ['resume', 'abort'] },
        sharedAttribute: {
          attributes: [{ key: 'osName', value: 'Windows*' }],
          ...{ failed: 4, tried: 4, elsewhere: { failed: 0, tried: 12 }, share: 0.3 },
        },
      },
      'it is held',
      'Too many failures. Check the cause, then hold osName=Windows*. Then resume or abort.',
    ],
    [
      'held',
      {
        ...{ state: 'held', reasonKind: 'onlyHeldStrata', reason: 'all else is done', verbs: ['resume'] },
        strata: strataHolding(aHeldStratum({ label: 'osName=Windows*' })),
        ...{ counts: countsOf({ pending: 7 }), waves: [aWaveStatus({ setAside: 7 })] },
      },
      'it is held',
      'All else is done. Check the cause, then release group osName=Windows* and resume.',
    ],
    [
      'held',
      {
        ...{ state: 'held', reasonKind: 'onlyHeldStrata', reason: 'all else is done' },
        verbs: ['resume', 'abort'],
        strata: strataHolding(aHeldStratum({ label: 'osName=Windows*', failed: 3 })),
        ...{ counts: countsOf({ pending: 7 }), waves: [aWaveStatus({ setAside: 7 })] },
      },
      'it is held',
      'All else is done. Check the cause, then resume to end without group osName=Windows*, release it and resume, or abort.',
    ],
    [
      'held',
      {
        ...{ state: 'held', reasonKind: 'onlyHeldStrata', reason: 'all else is done', verbs: ['resume'] },
        strata: strataHolding(aHeldStratum({ label: 'AIX', failed: 3 }), aHeldStratum()),
        ...{ counts: countsOf({ pending: 14 }), waves: [aWaveStatus({ setAside: 14 })] },
      },
      'it is held',
      'All else is done. Check the cause, then resume to end without the 2 held strata, or release them and resume.',
    ],
    [
      'held',
      {
        ...{ state: 'held', reasonKind: 'onlyHeldStrata', reason: '7 can start', verbs: ['resume'] },
        counts: countsOf({ pending: 7 }),
      },
      'it is held',
      '7 can start. Resume.',
    ],
    [
      'held',
      {
        ...{ state: 'held', reasonKind: 'buildHeld', verbs: ['resume', 'abort'] },
        reason: 'build 19.536-4 was held: crashes; it is released',
      },
      'it is held',
      'Build 19.536-4 was held: crashes; it is released. Resume or abort.',
    ],
    [
      'paused',
      { reason: 'the inventory is empty', reasonKind: 'inventoryUnresolved' },
      'it is paused',
      'The inventory is empty. Resume it to continue.',
    ],
    ['newerVersion', {}, 'a newer upwave wrote it', 'Upgrade this daemon.'],
    ['otherAccount', {}, 'it belongs to another account', 'Check the access id in the config.'],
    ['policyMissing', {}, 'its policy is missing', 'Put production back into the config, or abort.'],
    [
      'rollingBack',
      { rollbackId: 'production-2' },
      'its rollback waits',
      'production-2 has stopped and needs you.',
    ],
  ])('is named in a few words, and with what to do about it: %s %o', (kind, changes, due, advice) => {
    const status = { ...aRolloutStatus(), ...changes, headline: { kind, needsPerson: true } };
    expect(dueText(status)).toBe(due);
    expect(needText(status, showAt)).toBe(`${due.charAt(0).toUpperCase()}${due.slice(1)}. ${advice}`);
  });
});

it('says who paused a rollout in one sentence', () => {
  const status = aRolloutStatus({ state: 'paused', reason: 'by ann: lunch', reasonKind: 'asked' });
  expect(needText(status, showAt)).toBe('It is paused by ann: lunch. Resume it to continue.');
});

it('says what a rollback did to a rollout in a whole sentence', () => {
  const reason = 'by production-2, which did not roll back all';
  const status = aRolloutStatus({
    state: 'rolledBack',
    endedAt: startedAt,
    reasonKind: 'rollbackEnded',
    reason,
  });
  expect(needText(status, showAt)).toBe('Rolled back by production-2, which did not roll back all.');
});

it('names collectors of held strata, which nobody else releases, while the rest continues', () => {
  const held = [
    {
      label: 'osName=Windows*',
      kind: 'asked' as const,
      reason: 'by root: disk',
      by: 'root',
      at: startedAt,
      waiting: 58,
    },
  ];
  const status = aRolloutStatus({ strata: { total: 2, held, uncovered: { count: 0, labels: [] } } });
  const waits = '58 collectors of held strata wait for a release.';
  expect(needText(status, showAt)).toBe(`${waits} The rest continues.`);
  const headline = { kind: 'waitsForWindow', needsPerson: false } as const;
  const reason = 'the window is closed';
  expect(needText({ ...status, headline, reason }, showAt)).toBe(`${waits} The window is closed.`);
});

it('names a held group once, without the cause that its note has', () => {
  const held = [aHeldStratum({ label: 'fields.rack=r7', by: 'root', reason: 'rewired', waiting: 40 })];
  const reason = 'group fields.rack=r7 is held by root: rewired';
  const blockers = [{ kind: 'stratumHeld', reason, until: null } as const];
  const status = aRolloutStatus({ strata: strataHolding(...held), blockers });
  expect(needText(status, showAt)).toBe('Group fields.rack=r7 is held. The rest continues.');
  const two = strataHolding(...held, aHeldStratum());
  expect(needText({ ...status, strata: two }, showAt)).toBe('2 strata are held. The rest continues.');
});

it('names what stops all collectors, such as a freeze, also while strata are held', () => {
  const held = { kind: 'stratumHeld', reason: 'stratum Linux is held: 3 of 4 failed', until: null } as const;
  const frozen = { kind: 'freeze', reason: 'frozen: month end', until: startedAt } as const;
  const retry = { kind: 'retryNotDue', reason: 'the next retry is not due yet', until: startedAt } as const;
  const cap = { kind: 'cap', reason: 'all slots of this cap are taken', until: null } as const;
  const strata = strataHolding(aHeldStratum({ waiting: 3 }), aHeldStratum({ waiting: 5 }));
  const text = (kind: RolloutStatus['headline']['kind'], ...blockers: RolloutStatus['blockers']) =>
    needText({ ...aRolloutStatus({ strata, blockers }), headline: { kind, needsPerson: false } }, showAt);
  const whole = '2 strata are held. Frozen: month end, until 21:00.';
  expect(text('waitsForWindow', frozen, held)).toBe(whole);
  expect(text('waitsForWindow', retry, frozen, held)).toBe(whole);
  // Upgrades in flight end, but none starts.
  expect(text('running', frozen, held)).toBe(whole);
  expect(text('running', frozen, cap, held)).toBe('2 strata are held. The rest continues.');
  expect(text('running', frozen)).toBe(
    '8 collectors of held strata wait for a release. Frozen: month end, until 21:00.',
  );
  const deferred = { kind: 'deferred', reason: 'wave canary waits for 2 deferred collectors', until: null };
  expect(text('waitsForCollectors', { ...deferred, kind: 'deferred' }, held)).toBe(
    '2 strata are held. Wave canary waits for 2 deferred collectors.',
  );
  const reason = 'rolls back production-1';
  const rollingBack = { kind: 'rollingBack', needsPerson: false } as const;
  expect(needText({ ...aRolloutStatus({ strata, reason }), headline: rollingBack }, showAt)).toBe(
    '8 collectors of held strata wait for a release. Rolls back production-1.',
  );
  const nothingHeld = aRolloutStatus({ blockers: [retry, frozen] });
  expect(needText({ ...nothingHeld, headline: { kind: 'waitsForWindow', needsPerson: false } }, showAt)).toBe(
    'Needs nothing. Frozen: month end, until 21:00.',
  );
});

it('says until when a running rollout waits, to the second for its pace', () => {
  const until = startedAt + 40_000;
  const waits = (...blockers: RolloutStatus['blockers']) => needText(aRolloutStatus({ blockers }), showAt);
  expect(waits({ kind: 'soak', reason: 'wave canary soaks', until })).toBe(
    'Needs nothing. Wave canary soaks, until 21:00.',
  );
  const reason = 'the pace allows 600 starts an hour';
  expect(waits({ kind: 'pace', reason, until })).toBe(
    'Needs nothing. The pace allows 600 starts an hour; next start 21:00:40.',
  );
  expect(waits({ kind: 'pace', reason, until: null })).toBe(
    `Needs nothing. The pace allows 600 starts an hour.`,
  );
});

it('shows who stays once a rollback has ended', () => {
  const leftBehind = [{ kind: 'claimed', reason: 'another rollout has them', count: 1, names: [] }] as const;
  const reason = 'every collector of the plan has ended';
  const over = { endedAt: startedAt, state: 'succeeded', reason, leftBehind } as const;
  const back = { ...over, kind: 'rollback', fromBuilds: ['19.536-4'] } as const;
  expect(needText(aRolloutStatus(back), showAt)).toBe(
    'Every collector of the plan has ended. 1 stays on 19.536-4: another rollout has them.',
  );
  const some = aRolloutStatus({ ...back, id: 'web-2', counts: countsOf({ succeeded: 99, withdrawn: 8 }) });
  expect(needText(some, showAt)).toMatch(/ 8 stay on 19\.536-4: left web-2 before their turn\.$/);
});

it('names no blocker while a person is needed', () => {
  const blockers = [{ kind: 'pace', reason: 'the pace allows 2 starts an hour', until: null } as const];
  expect(namedBlocker(aRolloutStatus({ blockers }))).toBe(blockers[0]);
  expect(namedBlocker(aRolloutStatus({ blockers, state: 'held' }))).toBeUndefined();
});

describe('the headline in words', () => {
  it.each<[RolloutStatus['headline']['kind'], RolloutStatus['kind'], number | null, string]>([
    ['succeeded', 'upgrade', startedAt, 'succeeded'],
    ['rollingBack', 'rollback', null, 'rolling back'],
    ['succeeded', 'rollback', startedAt, 'rolled back'],
    ['finishedWithFailures', 'rollback', startedAt, 'rolled back, not all'],
    ['aborted', 'rollback', startedAt, 'rollback aborted'],
    ['rolledBack', 'upgrade', startedAt, 'rolled back'],
  ])('of %s as %s names a rollback as one', (kindOfHeadline, kind, endedAt, words) => {
    const headline = { kind: kindOfHeadline, needsPerson: false };
    expect(headlineWords({ kind, endedAt, headline, leftBehind: [] })).toBe(words);
  });

  it('of a rollout whose rollback left some names that', () => {
    const leftBehind = [
      { kind: 'withdrawn', reason: 'its rollback was aborted', count: 66, names: [] },
    ] as const;
    const ended = aRolloutStatus({ state: 'rolledBack', endedAt: startedAt, leftBehind });
    const headline = { kind: 'rolledBack', needsPerson: false } as const;
    expect(headlineWords({ ...ended, headline })).toBe('rolled back, not all');
  });
});
