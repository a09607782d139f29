import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { causeLines, causesCuts } from '../../../../src/cli/rollouts/cause-lines.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import type { UpgradeReason } from '../../../../src/rollout/model/upgrade-reason.ts';
import { type CauseUpgrades, causesReadMax, groupCauses } from '../../../../src/rollout/status/causes.ts';
import { makeUpgradeMatcher } from '../../../../src/rollout/status/find-upgrades.ts';
import { anUpgrade, aSummary, because, someGroups, startedAt } from '../../../support/builders.ts';
import { aDeferredOne, anEndedOne, aRetryingOne } from '../../../support/upgrade-cases.ts';

const labels = ['Windows Server 2019', 'Windows Server 2022', 'AIX', 'Solaris'];
const groups = someGroups({ strata: labels.map((label) => ({ label: `${label} / amd64`, sizes: [5] })) });
let lastId = 0;

function failed(reason: string, stratum = 0, collectorName = `svr-${++lastId}`): Upgrade {
  const end = { reason: because(reason), failureClass: 'permanent' } as const;
  return anEndedOne('failed', end, { collectorId: lastId, collectorName, stratum });
}
const retried = (reason: string) => aRetryingOne(startedAt, reason);
const withdrawn = (reason: string) => anEndedOne('withdrawn', { reason: because(reason) });

const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => make(i));

const groupsOf = (upgrades: CauseUpgrades, counts: Parameters<typeof aSummary>[0]) =>
  groupCauses({ waves: [aSummary(counts)], groups }, upgrades);

describe('the causes of failures and waits', () => {
  it('groups failures with the same message, whatever their stratum', () => {
    const stopped = 'service did not start';
    const upgrades = [...times(14, () => failed(stopped)), ...times(4, () => failed(stopped, 1))];
    const [group, ...rest] = groupsOf({ failed: upgrades }, { failed: 18 });
    expect(rest).toEqual([]);
    expect(group).toEqual({
      of: 'failed',
      total: 18,
      causes: [
        {
          kind: 'failed',
          failureClass: 'permanent',
          text: stopped,
          count: 18,
          strata: [
            { label: 'Windows Server 2019 / amd64', count: 14 },
            { label: 'Windows Server 2022 / amd64', count: 4 },
          ],
          otherStrata: { count: 0, strata: 0 },
          names: upgrades.slice(0, 3).map(({ identity: { collectorName } }) => collectorName),
        },
      ],
      others: { count: 0, causes: 0, unread: 0 },
    });
  });

  it('does not show a hold as the cause of a retry', () => {
    const held = {
      kind: 'stratumHeld',
      label: 'AIX',
      reason: { kind: 'asked', by: 'ann', words: '' },
    } as const;
    const putBack = anUpgrade({ state: 'retrying', dueAt: startedAt, reason: held });
    const retrying = [aRetryingOne(startedAt, 'disk is full'), putBack];
    expect(groupsOf({ retrying }, { retrying: 2 })).toMatchObject([
      { causes: [{ text: 'disk is full', count: 1 }], others: { count: 1, causes: 0, unread: 0 } },
    ]);
  });

  it.each([
    ['a path', 'cannot write /opt/a/lib.so: full', 'cannot write /srv/b.so: full', 'cannot write … full'],
    ['a Windows path', String.raw`cannot open C:\a\x.dll`, String.raw`cannot open D:\y.dll`, 'cannot open …'],
    ['a number', 'process 4711 uses the file', 'process 12 uses the file', 'process … uses the file'],
    ['a host name', 'no route to a.example.com.', 'no route to b.example.org.', 'no route to …'],
    ['the name of the collector', 'alpha did not restart', 'beta did not restart', '… did not restart'],
  ])('groups messages that differ only in %s', (_what, first, second, text) => {
    const upgrades = [failed(first, 0, 'alpha'), failed(second, 0, 'beta')];
    expect(groupsOf({ failed: upgrades }, { failed: 2 })[0]?.causes).toMatchObject([{ text, count: 2 }]);
  });

  it.each<[string, UpgradeReason, UpgradeReason, readonly string[]]>([
    [
      'one cause where only figures differ',
      { kind: 'noEnd', withinMs: 600_000 },
      { kind: 'noEnd', withinMs: 1_200_000 },
      ['no end within …'],
    ],
    [
      'one cause where only figures of the last attempt differ',
      { kind: 'attemptsSpent', attempts: 2, attemptsMax: 2, last: { kind: 'notBack', withinMs: 60_000 } },
      { kind: 'attemptsSpent', attempts: 3, attemptsMax: 3, last: { kind: 'notBack', withinMs: 90_000 } },
      ['did not come back within …'],
    ],
    [
      'two causes where the kinds of the last attempts differ, although the sentences are the same',
      { kind: 'unexplainedTwice', last: { kind: 'task', message: '' } },
      { kind: 'unexplainedTwice', last: because('the service gave no reason') },
      Array(2).fill('failed twice: the service gave no reason'),
    ],
  ])('groups by the data of reasons: %s', (_what, first, second, texts) => {
    const upgrades = [first, second].map((reason) =>
      anEndedOne('failed', { reason, failureClass: 'retry' }, { collectorId: ++lastId }),
    );
    const [group] = groupsOf({ failed: upgrades }, { failed: 2 });
    expect(group?.causes.map(({ text }) => text)).toEqual(texts);
  });

  it('shows causes of retried, deferred and withdrawn upgrades, too', () => {
    const reason = because('the network is down');
    const upgrades = {
      retrying: [aRetryingOne(startedAt, reason.detail)],
      deferred: [aDeferredOne({ reason })],
      withdrawn: [withdrawn('held by alice')],
    };
    const found = groupsOf(upgrades, { retrying: 1, deferred: 1, withdrawn: 1 });
    expect(found.map(({ of: name, causes }) => [name, causes[0]?.kind, causes[0]?.text])).toEqual([
      ['retrying', 'retrying', 'the network is down'],
      ['deferred', 'notAlive', 'the network is down'],
      ['withdrawn', 'withdrawn', 'held by alice'],
    ]);
  });

  it('keep the failure that was retried by an operator, or withdrawn with the rollout', () => {
    const ended = {
      at: startedAt,
      state: 'failed',
      reason: { kind: 'attemptsSpent', attempts: 3, attemptsMax: 3, last: because('disk full') },
    } as const;
    const tasks = [{ taskId: '7', startedAt, ended }];
    const retried = anUpgrade(
      { state: 'retrying', dueAt: startedAt, reason: { kind: 'retryAsked', by: 'ann', words: 'try again' } },
      { tasks },
    );
    const over = { kind: 'rolloutOver', state: 'rollingBack' } as const;
    const left = anEndedOne('withdrawn', { reason: over }, { collectorId: ++lastId });
    const withdrawn = [left, { ...left, tally: { ...left.tally, tasks } }];
    const found = groupsOf({ retrying: [retried], withdrawn }, { retrying: 1, withdrawn: 2 });
    expect(found.flatMap(({ causes }) => causes.map(({ text }) => text))).toEqual([
      'disk full',
      'the rollout is rolling back',
      'the rollout is rolling back; failed before: disk full',
    ]);
  });

  it('is bounded in number and size, and sums up the rest', () => {
    const upgrades = 'abcdefgh'.split('').map((letter) => failed(`${letter} ${'x'.repeat(100_000)}`));
    const [group] = groupsOf({ failed: upgrades }, { failed: 1_000 });
    expect(group?.causes).toHaveLength(5);
    expect(group?.causes.every(({ text }) => text.length <= 160)).toBe(true);
    expect(group?.others).toEqual({ count: 995, causes: 3, unread: 992 });
  });
});

const plainFit = { paint: (_format: unknown, text: string) => text, width: 80 };

describe('the lines of the causes', () => {
  const strata = { total: 4, held: [], uncovered: { count: 0, labels: [] } };
  const linesOf = (upgrades: CauseUpgrades, counts: Parameters<typeof aSummary>[0]) =>
    causeLines(
      {
        id: 'night-1',
        causes: groupsOf(upgrades, counts),
        strata,
        sharedAttribute: null,
        unweighedFields: [],
        state: 'running',
        endedAt: null,
        reasonKind: 'asked',
      },
      plainFit,
      { canBeAsked: true, hintsHold: true, cut: causesCuts[0] },
    );

  it('show counts, reasons, strata and names, and the number of others', () => {
    lastId = 0;
    const many = [
      ...times(14, () => failed('service did not start')),
      ...times(4, () => failed('service did not start', 1)),
    ];
    const few = 'abcdefghi'.split('').map((letter) => failed(letter, 2));
    expect(linesOf({ failed: [...many, ...few] }, { failed: 34 })).toEqual([
      'failed  at least 18 service did not start (2 strata, most Windows Server 2019 /',
      '        amd64) svr-1 and 17 more',
      '        at least 1 a (AIX / amd64)   svr-19',
      '        at least 1 b (AIX / amd64)   svr-20',
      '        7 for other reasons, 7 not read yet',
      '        list them: upwave upgrades night-1 --state failed',
      '        for one cause: add --cause "service did not start"',
    ]);
    const one = linesOf({ failed: [failed('disk full')] }, { failed: 1 });
    expect(one.join()).not.toContain('for one cause');
  });

  it('say how to list each group, where there are several', () => {
    const upgrades = { failed: [failed('disk full')], withdrawn: [withdrawn('gone')] };
    const lines = linesOf(upgrades, { failed: 1, withdrawn: 1 }).join('\n');
    expect(lines).toContain('list failed: upwave upgrades night-1 --state failed');
    expect(lines).toContain('list withdrawn: upwave upgrades night-1 --state withdrawn');
  });

  it('account for all upgrades of a later group', () => {
    const upgrades = { failed: [failed('disk full')], retrying: ['a', 'b', 'b'].map(retried) };
    const lines = linesOf(upgrades, { failed: 1, retrying: 3 });
    expect(lines.slice(1, 3)).toEqual([
      expect.stringMatching(/^retry +2 b /),
      // No longer than a line that counts it.
      expect.stringMatching(/^ +1 a /),
    ]);
    const more = { ...upgrades, retrying: ['a', 'b', 'b', 'c'].map(retried) };
    expect(linesOf(more, { failed: 1, retrying: 4 }).slice(1, 3)).toEqual([
      expect.stringMatching(/^retry +2 b /),
      '        2 for other reasons',
    ]);
  });

  it('give a filter that finds all upgrades of the cause, however long its text is', () => {
    const reasons = ['a', 'b'].map(
      (name) => `no space left on the device that holds the directory of ${name}.log`,
    );
    const upgrades = [...reasons.map((reason) => failed(reason)), failed('disk full')];
    const hint = linesOf({ failed: upgrades }, { failed: 3 }).join(' ');
    const cause = /add --cause "(.*)"$/.exec(hint)?.[1] ?? '';
    expect(cause).toBe('no space left on the device that holds the');
    const matches = makeUpgradeMatcher({ cause }, groups);
    expect(upgrades.map((upgrade) => matches(upgrade))).toEqual([true, true, false]);
  });

  it('fit 80 columns, however long names and reasons are', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 300 }),
        fc.string({ minLength: 1, maxLength: 100 }),
        (reason, name) => {
          const lines = linesOf({ failed: [failed(reason, 0, name)] }, { failed: causesReadMax });
          expect(lines.filter((line) => line.length > 80)).toEqual([]);
        },
      ),
    );
  });

  it('are empty without failures', () => {
    expect(linesOf({}, { succeeded: 3 })).toEqual([]);
  });
});
