import { describe, expect, it } from 'vitest';
import { renderStatus } from '../../../../src/cli/rollouts/render-status.ts';
import { showComing, showMinute, showZoned } from '../../../../src/cli/shell/show-instant.ts';
import type { RolloutStatus } from '../../../../src/contract/admin/rollout-status.ts';
import type { WaveStatus } from '../../../../src/contract/admin/status-parts.ts';
import { anApiBudgetStatus, anOutage, startedAt } from '../../../support/builders.ts';
import { aRolloutStatus, aWaveStatus, countsOf } from '../../../support/fake-operations.ts';
import { aCause, aGateStatus, aHeldStratum, strataHolding } from '../../../support/status-parts.ts';

const minute = 60_000;
const hour = 60 * minute;
const clearScreen = '\u001b[2J';

const plain = { paint: (_format: unknown, text: string) => text };
const linesOf = (status: RolloutStatus, columns?: number) =>
  renderStatus(status, startedAt, { ...plain, columns }).split('\n');
/** So wide that each line stays one. */
const shown = (changes: Partial<RolloutStatus>) => linesOf(aRolloutStatus(changes), 1_000);
/** The lines with this label, without it. */
const under = (label: string, lines: readonly string[]) =>
  lines.filter((line) => line.startsWith(`${label} `)).map((line) => line.slice(label.length).trim());
const atOf = (instant: number) => showZoned(instant, startedAt);
const minuteOf = (instant: number) => showMinute(instant, startedAt);

const held = { state: 'held', hold: 17, verbs: ['abort', 'resume'] } as const;
const buildHold = { build: '19.536-4', by: 'daemon', reason: 'it tripped a canary', at: startedAt };
const buildHeld = 'build 19.536-4 is held: it tripped a canary (by daemon); upwave release 19.536-4';
const pausedUntil = startedAt + 10 * minute;
const down = { kind: 'serviceDown', reason: 'it is down', detail: 'reset\u001b.', since: startedAt } as const;
const downSince = `it is down since ${atOf(startedAt)} (reset\\u001b)`;
const out = (changes: Parameters<typeof anOutage>[0]) => ({
  api: anApiBudgetStatus({ outage: anOutage(changes) }),
});
const open = {
  isOpen: true,
  until: startedAt + 72 * minute,
  reason: '',
  timeZone: 'Europe/Berlin',
  ownZones: false,
};
const closed = { ...open, isOpen: false, reason: 'frozen: holidays', until: startedAt + 24 * hour };
const lastIsOpen = [aWaveStatus({ state: 'passed' }), aWaveStatus()];
const canaryThenRest = { waves: [aWaveStatus(), aWaveStatus({ name: 'rest', state: 'waiting' })] };
const strataIn = (...labels: readonly string[]) => ({
  total: 9,
  held: [],
  uncovered: { count: labels.length, labels },
});
const planApproval = { kind: 'planApproval', reason: 'it waits', until: null } as const;
const done = aHeldStratum({ label: 'Linux', reason: '3 of 4 failed', waiting: 0 });
const drift = { from: 'abcd', joined: 1, left: 0, words: '1 joined (web-7)' };
const over = { endedAt: startedAt, state: 'finishedWithFailures', counts: countsOf({ failed: 1 }) } as const;
const soaking = [aWaveStatus({ state: 'soaking', counts: countsOf({ failed: 1 }) })];

describe('the status of a rollout', () => {
  it('groups the digits of counts', () => {
    const counts = countsOf({ succeeded: 1_023, failed: 2_001, pending: 7_000 });
    const waves = [aWaveStatus({ size: 10_024, counts, failures: 2_001, failuresAllowed: 1_000 })];
    const lines = shown({ planned: 10_024, counts, waves }).join('\n');
    expect(lines).toMatch(/ 1,023\/10,024 +2,001 failed +7,000 to do/);
    expect(lines).toMatch(/ 1,023 ok +2,001 failed +budget 2,001\/1,000 /);
  });

  it('shows its waves, holds, blockers, windows, end, plan and legal verbs', () => {
    const api = anApiBudgetStatus({
      requestsPerSecondNow: 1.7599,
      requestsPerSecondMax: 2.1999,
      rateLimited: 3,
      outage: anOutage({ until: pausedUntil }),
    });
    const status: Partial<RolloutStatus> = {
      api,
      buildHold,
      strata: { total: 9, held: [aHeldStratum()], uncovered: { count: 3, labels: ['AIX', 'HP-UX'] } },
      waves: [
        aWaveStatus({ state: 'passed', passedAt: startedAt }),
        aWaveStatus({
          name: 'early',
          state: 'soaking',
          soakEndsAt: startedAt + hour,
          gates: [aGateStatus()],
        }),
        aWaveStatus({ name: 'rest', state: 'waiting', waits: 'gate of early' }),
      ],
      blockers: [
        { kind: 'buildHeld', reason: 'build 19.536-4 is held: it tripped a canary', until: null },
        { kind: 'concurrency', reason: 'all 50 slots are taken', until: null },
        { kind: 'window', reason: 'outside the window', until: startedAt + 50 * hour },
      ],
      window: { ...open, ownZones: true },
      eta: { kind: 'at', at: startedAt, plusMinusMs: 10 * minute, requests: 24 },
    };
    expect(shown(status).slice(1).join('\n')).toBe(`\
held    ${buildHeld}
held    stratum Linux / amd64 / 19.441-2: 3 of 4 failed, 1 of 80 elsewhere; 7 wait; upwave release "Linux / amd64 / 19.441-2"
waits   the service asked for a pause, until ${atOf(pausedUntil)}
waits   all 50 slots are taken
waits   outside the window, until ${showZoned(startedAt + 50 * hour, startedAt)}
window  open until 23:12 Europe/Berlin (1h12m); by each collector's own time zone
do      upwave pause production   | abort | rollback
all     ██░░░░░░░░░░░░░░░░░░░░░░░░  1/10   0 failed   8 to do   1/50 in flight
canary  passed   1 ok   0 failed   budget 0/0   ${minuteOf(startedAt)}   1 in flight
early   soaking  1 ok   0 failed   budget 0/0   until ${minuteOf(startedAt + hour)}   errors 0.93   1 in flight
rest    waiting   2/2   for gate of early
strata  3 of 9 strata are in no wave before rest: AIX; HP-UX; …
end     about ${showComing(startedAt, startedAt)} (±10m), 24 requests   3.4/1.76 requests/s   lowered from 2.2 by 429s   429s 3
plan    7f3a by schedule   3 left out   from 19.441-2`);
  });

  it.each<readonly [label: string, changes: Partial<RolloutStatus>, line: string]>([
    ['window', { window: { ...open, until: null } }, 'open'],
    ['window', { window: closed }, 'closed: frozen: holidays, opens 2026-03-03 22:00 Europe/Berlin (1d)'],
    [
      'window',
      { window: { ...closed, until: null } },
      'closed: frozen: holidays, and does not open within a year',
    ],
    ['waits', out({ ...down, until: pausedUntil }), `${downSince}; next try ${atOf(pausedUntil)}`],
    [
      'waits',
      { blockers: [{ kind: 'pace', reason: 'the pace allows 600 starts an hour', until: pausedUntil }] },
      `the pace allows 600 starts an hour; next start ${showZoned(pausedUntil, startedAt)}`,
    ],
    ['waits', out({ ...down, until: null }), `${downSince}; one request is testing the service`],
    [
      'held',
      { ...held, buildHold },
      'build 19.536-4 is held (by daemon); upwave release 19.536-4, then upwave resume production --hold 17',
    ],
    [
      'held',
      { state: 'awaitingApproval', buildHold },
      'build 19.536-4 is held: it tripped a canary (by daemon); upwave release 19.536-4, then upwave approve production --plan 7f3a',
    ],
    ['do', { state: 'awaitingApproval', buildHold, verbs: ['abort'] }, 'upwave release 19.536-4   | abort'],
    ['held', { ...over, strata: strataHolding(done) }, 'stratum Linux: 3 of 4 failed'],
    [
      'held',
      {
        strata: strataHolding(
          aHeldStratum(),
          aHeldStratum({ label: 'AIX', waiting: 1 }),
          aHeldStratum({ label: 'HP-UX', waiting: 0 }),
        ),
      },
      '3 strata, 8 collectors wait: Linux / amd64 / 19.441-2 (3 of 4 failed, 1 of 80 elsewhere) and 2 more; upwave release "Linux / amd64 / 19.441-2" AIX HP-UX; list them: upwave holds',
    ],
    [
      'held',
      { strata: strataHolding(aHeldStratum({ label: 'osName=AIX', reason: 'INC-7', by: 'ann' })) },
      'group osName=AIX: INC-7 (by ann); 7 wait',
    ],
    [
      'strata',
      { ...canaryThenRest, strata: strataIn('A', 'B') },
      '2 of 9 strata are in no wave before rest: A; B',
    ],
    [
      'strata',
      { ...canaryThenRest, strata: strataIn('A', 'B', 'C', 'D') },
      '4 of 9 strata are in no wave before rest: A; B; C; …',
    ],
    ['drift', { state: 'awaitingApproval', drift }, 'since plan abcd: 1 joined (web-7)'],
    ['back', { state: 'rollingBack', rollbackId: 'p-2' }, 'by p-2: upwave status p-2'],
    ['back', { kind: 'rollback', rollbackOf: 'p-1' }, 'the rollback of p-1'],
    ['do', held, 'upwave resume production --hold 17   | abort'],
    ['do', { waves: soaking, verbs: ['pause', 'skipSoak'] }, 'upwave pause production   | skip-soak'],
    ['do', { ...over, counts: countsOf({}), verbs: [] }, 'nothing: it is over'],
    ['do', { state: 'rollingBack', verbs: [] }, 'nothing: it ends automatically'],
    [
      'do',
      { recordUnreadable: 'newer', verbs: [] },
      'nothing here: a daemon of the newer version continues it',
    ],
  ])('shows the present state under "%s": case %#', (label, changes, line) => {
    expect(under(label, shown(changes))).toContain(line);
  });

  it.each<readonly [label: string, of: string, changes: Partial<RolloutStatus>]>([
    ['window', 'a rollout that is over', { window: open, endedAt: startedAt }],
    ['waits', 'what it needs', { state: 'awaitingApproval', blockers: [planApproval] }],
    ['strata', 'a plan of one wave', { waves: [aWaveStatus()], strata: strataIn('A') }],
    ['strata', 'a plan whose last wave is open', { waves: lastIsOpen, strata: strataIn('A') }],
    ['drift', 'a plan that is on its way', { drift }],
  ])('shows nothing under "%s" for %s', (label, _of, changes) => {
    expect(under(label, shown(changes))).toEqual([]);
  });

  it.each(['rollout', 'rollback'])(
    'shows for a %s which collectors it leaves behind, why, and some names',
    (kind) => {
      const back = { kind: 'rollback', fromBuilds: ['19.536-4'], targetBuild: '19.1-1' } as const;
      const names = ['web-1 (had 19.1-1)', 'web-2'];
      const leftBehind: RolloutStatus['leftBehind'] = [
        { kind: 'buildNotOffered', reason: 'the build is gone', count: 23, names },
        { kind: 'claimed', reason: 'another rollout has them', count: 1, names: ['web-9'] },
      ];
      const linesWith = (changes: Partial<RolloutStatus>) =>
        shown({ leftOut: [], ...(kind === 'rollback' && back), ...changes });
      const lines = linesWith({ leftBehind });
      const from = lines.findIndex((line) => line.startsWith('left '));
      expect(lines.slice(from, from + 3).map((line) => line.trimStart())).toEqual([
        'left    24 are not rolled back from 19.536-4',
        '23: the build is gone: web-1 (had 19.1-1), web-2, …',
        '1: another rollout has them: web-9',
      ]);
      expect(under('left', lines)).toHaveLength(1);
      expect(under('left', linesWith({ leftBehind: leftBehind.slice(0, 1) }))).toEqual([
        '23 are not rolled back from 19.536-4: the build is gone: web-1 (had 19.1-1), web-2, …',
      ]);
    },
  );

  it('cuts whom a rollback leaves behind after two lines for a reason, and counts the other reasons', () => {
    const names = Array.from({ length: 9 }, (_, index) => `branch-office-web-${index} (had 19.1-1)`);
    const reason = 'the service no longer offers the build they had';
    const one = { kind: 'buildNotOffered', reason, count: 15, names } as const;
    const other = {
      kind: 'claimed',
      reason: 'another rollout has them',
      count: 2,
      names: ['web-9'],
    } as const;
    const causes = [
      { of: 'failed', total: 9, causes: [aCause()], others: { count: 0, causes: 0, unread: 0 } },
    ] as const;
    const waves = Array.from({ length: 12 }, (_, index) => aWaveStatus({ name: `w${index}` }));
    const leftIn = (leftBehind: RolloutStatus['leftBehind']) => {
      const lines = linesOf(aRolloutStatus({ state: 'rollingBack', causes, waves, leftBehind }), 80);
      const from = lines.findIndex((line) => line.startsWith('left '));
      return lines.slice(from, from + 3);
    };
    const [first, second, third] = leftIn([one]);
    expect(first).toMatch(/^left +15 are not rolled back from 19\.536-4: the service no longer offers the$/);
    expect(second).toMatch(/branch-office-web-0 \(had 19\.1-1\), .* …$/);
    expect(third).not.toContain('more');
    expect(leftIn([one, other])).toEqual([
      expect.stringMatching(/^left +17 are not rolled back from 19\.536-4$/),
      expect.stringMatching(/^ +… 2 more reasons: upwave report /),
      expect.any(String),
    ]);
  });

  it('offers a rollback that waits for its window to start now', () => {
    const back = { kind: 'rollback', verbs: ['pause', 'abort', 'rollback'] } as const;
    expect(under('do', shown({ ...back, window: closed }))[0]).toMatch(/\| abort \| rollback --now$/);
  });

  it('shows once what a rollback leaves behind where the reason of the rollout says that', () => {
    const leftBehind = [
      { kind: 'buildNotOffered', reason: 'the build is gone', count: 23, names: ['web-1'] },
    ] as const;
    const reason = 'no collector could be rolled back; 23 stay: the build is gone';
    const lines = shown({ state: 'rolledBack', reasonKind: 'nothingRolledBack', reason, leftBehind });
    expect(under('back', lines)).toEqual([reason]);
    expect(lines.filter((line) => line.includes('the build is gone'))).toHaveLength(1);
  });

  it.each([
    ['held', 'held'],
    ['rolledBack', 'back'],
  ] as const)('shows why it is %s, once', (state, label) => {
    const rollback = { rollbackId: 'p-2', reasonKind: 'rollbackEnded' } as const;
    const ended = shown({ state: 'rolledBack', ...rollback, reason: 'by p-2, which succeeded' });
    expect(under('back', ended)).toEqual(['by p-2, which succeeded: upwave status p-2']);
    const blockers = state === 'held' ? [{ kind: state, reason: 'by alice', until: null }] : [];
    const lines = shown({ state, reason: 'by alice', blockers });
    expect(under(label, lines)).toEqual(['by alice']);
    expect(lines.filter((line) => line.includes('by alice'))).toHaveLength(1);
  });

  it.each<readonly [headline: string, changes: Partial<RolloutStatus>]>([
    ['NEEDS YOU: approve the plan', { state: 'awaitingApproval' }],
    ['WAITS FOR WINDOW wave 1/2 canary', { waitsFor: { kind: 'window', until: startedAt + hour } }],
    ['FINISHED WITH FAILURES', { state: 'finishedWithFailures', endedAt: startedAt }],
    ['→ 1, 2', { kind: 'rollback', fromBuilds: ['9'], backTo: ['1', '2'] }],
    ['→ 1, 2, 3, … (5 builds)', { kind: 'rollback', fromBuilds: ['9'], backTo: ['1', '2', '3', '4', '5'] }],
  ])('begins with its headline: %s', (headline, changes) => {
    expect(shown(changes)[0]).toContain(`  ${headline}  `);
  });

  it('begins with its name, its target, its wave and its age, in two lines where the name is long', () => {
    const waves = [aWaveStatus({ state: 'passed' }), aWaveStatus({ name: 'early' })];
    const [running] = linesOf(aRolloutStatus({ waves, createdAt: startedAt - 9_060_000 }));
    expect(running).toBe('production-20260302-1  → 19.536-4        RUNNING wave 2/2 early            2h31m');
    const [first, second] = linesOf(aRolloutStatus({ id: 'a'.repeat(70), state: 'held' }));
    expect(first).toBe(`${'a'.repeat(70)}  → 19.536-4`);
    expect(second).toMatch(/^NEEDS YOU: it is held +0s$/);
  });

  it('shows its progress, and the state of each collector without success', () => {
    const counts = countsOf({
      succeeded: 5,
      failed: 1,
      timedOut: 2,
      unconfirmed: 3,
      deferred: 4,
      retrying: 1,
    });
    const waves = [aWaveStatus({ setAside: 2 }), aWaveStatus({ setAside: 5 })];
    const lines = linesOf(aRolloutStatus({ counts, waves }));
    expect(under('all', lines)).toEqual(['█████████████░░░░░░░░░░░░░  5/10   6 failed   1/50 in flight']);
    expect(lines).toContain('        1 to retry   4 deferred   7 set aside');
  });

  it('shows how many collectors of a passed wave its gate judged', () => {
    const passed = { state: 'passed', size: 12, setAside: 9, passedAt: startedAt } as const;
    const counts = countsOf({ succeeded: 3, pending: 9 });
    const lines = linesOf(aRolloutStatus({ waves: [aWaveStatus({ ...passed, counts })] }));
    expect(lines.join('\n')).toContain('3 of 12 judged, 9 held');
  });

  it('shows why upgrades did not succeed', () => {
    const cause = aCause({
      kind: 'timedOut',
      text: 'no end within 35m',
      count: 2,
      names: ['web-1', 'web-2'],
    });
    const others = { count: 0, causes: 0, unread: 0 };
    const lines = shown({ causes: [{ of: 'failed', total: 2, causes: [cause], others }] });
    expect(under('failed', lines)).toEqual(['2 timed out: no end within 35m   web-1 and 1 more']);
  });

  it('shows that there may be more causes where only part of a group was counted', () => {
    const others = { count: 77, causes: 0, unread: 77 };
    const causes = [aCause({ kind: 'withdrawn', text: 'the rollout was aborted', count: 200, names: [] })];
    const lines = shown({ causes: [{ of: 'withdrawn', total: 277, causes, others }] }).join('\n');
    expect(lines).toContain('at least 200 withdrawn: the rollout was aborted');
    expect(lines).toContain('77 not read');
    expect(lines).not.toContain('other reasons');
  });

  it('offers no command once the daemon is gone, as at the end of the demo', () => {
    const others = { count: 0, causes: 0, unread: 0 };
    const failed = { of: 'failed', total: 1, causes: [aCause({ count: 1 })], others } as const;
    const status = aRolloutStatus({
      state: 'finishedWithFailures',
      verbs: ['retry', 'rollback'],
      causes: [failed],
    });
    const shownWhen = (canBeAsked: boolean) =>
      renderStatus(status, startedAt, { ...plain, columns: 200, canBeAsked });
    expect(shownWhen(true).match(/upwave \w+/g)).toEqual(['upwave retry', 'upwave upgrades']);
    expect(shownWhen(false)).not.toContain('upwave ');
  });

  it('proposes to abort a rollout whose policy is missing', () => {
    const headline = { kind: 'policyMissing', needsPerson: true } as const;
    const lines = linesOf({ ...aRolloutStatus(), headline }, 1_000);
    expect(under('do', lines)).toEqual(['upwave abort production   | pause | rollback']);
  });

  it('names the start of the daemon as what began a rollout', () => {
    expect(shown({ startedBy: 'start' }).join('\n')).toContain('by daemon start');
    expect(shown({ startedBy: 'schedule' }).join('\n')).toContain('by schedule');
  });

  it.each([
    [120, '5 permission denied (6 strata, most Linux / amd64 / 19.441-2)   dev-web-224 and 4 more'],
    [80, '5 permission denied (6 strata, most Linux / amd64 / 19.441-2)'],
    [60, '5 permission denied'],
  ])('in %i columns leaves out parts of a cause that do not fit, and cuts no bracket', (columns, words) => {
    const strata = { total: 6, held: [], uncovered: { count: 0, labels: [] } };
    const text = 'permission denied';
    const group = { of: 'retrying', total: 5, causes: [aCause({ kind: 'retrying', text })] } as const;
    const others = { count: 0, causes: 0, unread: 0 };
    const failed = { of: 'failed', total: 1, causes: [aCause({ count: 1 })], others } as const;
    const lines = linesOf(aRolloutStatus({ causes: [failed, { ...group, others }], strata }), columns);
    expect(under('retry', lines)).toEqual([words]);
  });
});

describe('a wave in the status of a rollout', () => {
  const lineOf = (changes: Partial<WaveStatus>, of: Partial<RolloutStatus> = {}) =>
    under('w', shown({ waves: [aWaveStatus({ name: 'w', ...changes })], ...of }))[0] ?? '';
  const done = countsOf({ succeeded: 90, upgrading: 2, retrying: 1, failed: 2, unconfirmed: 2, deferred: 3 });
  const waiting = { size: 8, counts: countsOf({ pending: 8 }) };

  it.each<readonly [line: string, changes: Partial<WaveStatus>]>([
    ['open     90 ok   4 failed   budget 6/6 ', { size: 100, counts: done, failures: 6, failuresAllowed: 6 }],
    ['   2 in flight   1 to retry   3 deferred   4 set aside', { size: 100, counts: done, setAside: 4 }],
    ['   2 came late', { joined: 2 }],
    ['   budget 4/0 (1 lost, each counts 3)', { failures: 4, lost: 1 }],
    ['   budget 0/0 (4 acknowledged)', { failures: 0, lost: 1, acknowledged: 4 }],
    [
      '   webhook \\u001b[2J   ',
      { state: 'soaking', gates: [aGateStatus({ words: `webhook ${clearScreen}` })] },
    ],
    ['waiting   0/8   for gate of canary', { ...waiting, state: 'waiting', waits: 'gate of canary' }],
    [
      'waiting   no collectors   for gate of',
      { size: 0, counts: countsOf({}), state: 'waiting', waits: 'gate of a' },
    ],
    ['passed   no collectors', { size: 0, counts: countsOf({}), state: 'passed' }],
  ])('shows its stage, its numbers, its failures and its blockers: %s', (part, changes) => {
    expect(`${lineOf(changes)} `).toContain(part);
  });

  it.each<readonly [budget: string, changes: Partial<WaveStatus>]>([
    ['budget 0/0 (4 in held strata)', { failures: 0 }],
    ['budget 1/2 (3 in held strata)', { failures: 1, failuresAllowed: 2 }],
    ['budget 4/0 (1 lost, each counts 3, 2 in held strata)', { failures: 4, lost: 1 }],
    ['budget 0/0 (1 acknowledged, 3 in held strata)', { failures: 0, acknowledged: 1 }],
    ['budget 4/6 ', { failures: 4, failuresAllowed: 6 }],
  ])('shows which of its failures are in held strata, and do not count: %s', (budget, changes) => {
    const strata = strataHolding(aHeldStratum());
    const [line = '', more = ''] = under(
      'w',
      shown({ strata, waves: [aWaveStatus({ name: 'w', counts: done, ...changes })] }),
    );
    expect(`${line} ${more} `).toContain(budget);
  });

  it('has ended when its rollout was aborted before it passed', () => {
    const ended = { endedAt: startedAt, state: 'aborted' } as const;
    expect(lineOf({ size: 100, counts: done, state: 'open' }, ended)).toMatch(/^ended +90 ok/);
  });

  it('has not opened when its rollout ended before, whatever was withdrawn', () => {
    const counts = countsOf({ withdrawn: 8 });
    const line = lineOf({ size: 8, counts, state: 'waiting', waits: 'gate of canary' }, over);
    expect(line).toBe('not opened   8 withdrawn');
  });
});

describe('the status of a rollout that needs approval and has failures for several reasons', () => {
  const rest = {
    state: 'awaitingApproval',
    waits: 'approval',
    counts: countsOf({ pending: 1_024 }),
  } as const;
  const busy = aRolloutStatus({
    planned: 1_215,
    counts: countsOf({ succeeded: 180, failed: 9, timedOut: 2, pending: 1_024 }),
    waves: [
      aWaveStatus({ state: 'passed', passedAt: startedAt, counts: countsOf({ succeeded: 61, failed: 9 }) }),
      aWaveStatus({ name: 'early', state: 'passed', counts: countsOf({ succeeded: 119, timedOut: 2 }) }),
      aWaveStatus({ name: 'rest', size: 1_024, ...rest }),
    ],
    eta: {
      kind: 'afterApproval',
      approvalAt: null,
      durationMs: 100_000,
      plusMinusMs: minute,
      requests: 2_400,
    },
    strata: strataIn('AIX / ppc', 'Solaris / sparc'),
    causes: [
      {
        of: 'failed',
        total: 11,
        causes: [aCause(), aCause({ text: 'x'.repeat(160) })],
        others: { count: 1, causes: 1, unread: 0 },
      },
    ],
    blockers: [{ kind: 'waveApproval', reason: 'wave rest waits for approval', until: null }],
    verbs: ['pause', 'approve', 'abort', 'rollback'],
  });

  const shared = {
    attributes: [{ key: 'osName', value: 'Windows*' }],
    ...{ failed: 22, tried: 66, elsewhere: { failed: 1, tried: 46 }, share: 0.1 },
  };
  const long = aCause({ text: 'x'.repeat(160), otherStrata: { count: 2, strata: 40 } });
  const causes = [long, long, long];
  const failing = { total: 23, causes, others: { count: 2, causes: 2, unread: 0 } };
  const worst = aRolloutStatus({
    ...busy,
    ...held,
    reason: 'wave canary: 3 failures, 0 allowed (1 lost collector counts as 3)',
    buildHold: { ...buildHold, reason: 'wave canary: 3 failures, 0 allowed (1 lost collector counts as 3)' },
    strata: strataHolding(...Array.from({ length: 14 }, () => aHeldStratum())),
    sharedAttribute: shared,
    // So many that the group explains less than half of them, and is not held first.
    causes: [
      { ...failing, of: 'failed', total: 46 },
      { of: 'retrying', ...failing },
    ],
    blockers: [{ kind: 'stratumHeld', reason: 'stratum AIX is held', until: null }],
  });

  it.each([
    ['a wave that waits for a person', busy],
    ['a build that is bad for many strata', worst],
  ])('fits 80 columns and 24 lines, also for %s', (_of, status) => {
    const lines = linesOf(status);
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(lines.filter(({ length }) => length > 80)).toEqual([]);
  });

  const waveNames = Array.from({ length: 13 }, (_, at) => `ring-${at}`);
  const longReason = `${worst.reason}, and ${'the check of the service rejected the task; '.repeat(4)}see INC-4711`;
  const longest = aRolloutStatus({
    ...worst,
    reason: longReason,
    strata: strataHolding(...Array.from({ length: 92 }, () => aHeldStratum())),
    waves: waveNames.map((name, at) =>
      aWaveStatus({ name, state: at < 6 ? 'passed' : at === 6 ? 'open' : 'waiting' }),
    ),
    blockers: [{ kind: 'window', reason: 'outside the window', until: null }],
  });
  const wordsOf = (lines: readonly string[]) => lines.join(' ').replaceAll(/\s+/g, ' ');

  it('fits a small terminal with its prompt, and cuts lists before reasons', () => {
    const lines = linesOf(longest);
    expect(lines.length).toBeLessThanOrEqual(23);
    const words = wordsOf(lines);
    expect(words).toContain(`held ${longReason} held build`);
    expect(words).toContain('held 92 strata, 644 collectors wait: Linux / amd64 / 19.441-2 (3 of 4 failed');
    expect(words).toContain('… 41 more: upwave upgrades production-20260302-1 --state failed');
    expect(words).toMatch(/… \d+ more waves: upwave report production-20260302-1/);
    expect(lines.some((line) => line.startsWith('ring-6 '))).toBe(true);
  });

  it('begins with headline, hold, what it waits for and the verbs', () => {
    const labels = linesOf(longest).map((line) => line.slice(0, 7).trim());
    expect(labels.filter((label) => label !== '').slice(1, 7)).toEqual([
      'held',
      'held',
      'held',
      'waits',
      'do',
      'all',
    ]);
  });

  it('shows all waves where there is room', () => {
    const lines = renderStatus(longest, startedAt, { ...plain, columns: 80, rows: 60 }).split('\n');
    for (const name of waveNames) expect(lines.some((line) => line.startsWith(`${name} `))).toBe(true);
    expect(lines.join('\n')).not.toContain('more waves');
  });

  it.each([
    [17, 10, /all .*ring-6 .*ring-7 .*… 11 more waves: (?!.* plan )/],
    [16, 10, /all .*ring-6 .*… 12 more waves: (?!.* plan )/],
    [12, 10, /upwave resume production/],
    [5, 5, /upwave resume production/],
    [4, 4, /upwave resume production/],
  ])('keeps to %i lines at most, of which it wants %i, and keeps the verbs', (rowsMax, rows, words) => {
    const lines = renderStatus(longest, startedAt, { ...plain, columns: 120, rows, rowsMax }).split('\n');
    expect(lines.length).toBeLessThanOrEqual(rowsMax);
    expect(wordsOf(lines)).toMatch(words);
  });

  it.each([23, 17, 16, 12, 10])('keeps what failures share, else the first cause, in %i lines', (rows) => {
    const style = { ...plain, columns: 120, rows };
    const words = (status: RolloutStatus) => renderStatus(status, startedAt, style).split('\n');
    expect(under('common', words(longest))).not.toEqual([]);
    expect(under('failed', words({ ...longest, sharedAttribute: null }))).not.toEqual([]);
  });

  describe('cuts causes one by one', () => {
    const texts = ['permission denied', 'the disk is full', 'the task was rejected'];
    const causesOf = (...counts: readonly number[]) =>
      counts.map((count, at) => aCause({ count, text: texts[at] ?? '', strata: [] }));
    const none = { count: 0, causes: 0, unread: 0 };
    const status = aRolloutStatus({
      ...{ waves: ['canary', 'early', 'rest'].map((name) => aWaveStatus({ name })) },
      causes: [
        { of: 'failed', total: 9, causes: causesOf(5, 3, 1), others: none },
        { of: 'retrying', total: 3, causes: causesOf(3), others: none },
      ],
    });
    const cutTo = (rows: number) =>
      renderStatus(status, startedAt, { ...plain, columns: 80, rows }).split('\n');
    const all = cutTo(60);
    const causesIn = (lines: readonly string[]) =>
      texts.filter((text) => lines.some((line) => new RegExp(`\\d ${text} `).test(`${line} `)));

    it.each(Array.from({ length: all.length - 9 }, (_, at) => at + 10))('to use %i lines', (rows) => {
      expect(cutTo(rows)).toHaveLength(Math.min(rows, all.length));
    });

    it('leaves out hints first, then causes, then the later group', () => {
      const lines = cutTo(all.length - 1);
      expect(causesIn(lines)).toEqual(texts);
      expect(under('retry', lines)).toHaveLength(1);
      const fewer = cutTo(all.length - 3);
      expect(causesIn(fewer)).toEqual(texts.slice(0, 2));
      expect(fewer.join('\n')).toContain('… 1 more failed: upwave upgrades');
      expect(under('retry', fewer)).toHaveLength(1);
    });
  });

  it('cuts held strata where nothing waits before causes', () => {
    const labels = ['Windows Server 2019', 'Windows Server 2016', 'AIX'].map(
      (os) => `${os} / x86 / 19.525-63`,
    );
    const given = (waiting: number) =>
      aRolloutStatus({
        ...{ state: 'held', reason: 'wave canary: 3 failures, 0 allowed', verbs: ['abort', 'resume'] },
        ...{ causes: worst.causes, sharedAttribute: shared },
        strata: strataHolding(...labels.map((label) => aHeldStratum({ label, waiting }))),
      });
    const cutTo = (rows: number, waiting = 0) =>
      renderStatus(given(waiting), startedAt, { ...plain, columns: 80, rows }).split('\n');
    const all = cutTo(60);
    expect(wordsOf(all)).toContain('held 3 strata, 0 collectors wait: Windows');
    const lines = cutTo(all.length - 1);
    expect(under('held', lines)).toEqual([
      'wave canary: 3 failures, 0 allowed',
      '3 strata, 0 collectors wait; list them: upwave holds',
    ]);
    const from = (shownLines: readonly string[]) =>
      shownLines.slice(shownLines.findIndex((line) => line.startsWith('do ')));
    expect(from(lines)).toEqual(from(all));
    expect(wordsOf(cutTo(all.length - 1, 1))).toContain('upwave release');
  });

  it('shows why a held stratum is held where nothing waits, and cuts its release', () => {
    const cutTo = (rows: number) =>
      renderStatus(aRolloutStatus({ strata: strataHolding(aHeldStratum({ waiting: 0 })) }), startedAt, {
        ...plain,
        columns: 80,
        rows,
      }).split('\n');
    const all = cutTo(60);
    expect(wordsOf(all)).toContain('elsewhere; upwave release "Linux');
    expect(under('held', cutTo(all.length - 1))).toEqual([
      'stratum Linux / amd64 / 19.441-2: 3 of 4 failed, 1 of 80 elsewhere',
    ]);
  });

  it('takes more lines than it wants for reasons, not for lists', () => {
    const style = { ...plain, columns: 80, rows: 5, rowsMax: 22 };
    const words = wordsOf(renderStatus(longest, startedAt, style).split('\n'));
    expect(words).toContain(`held ${longReason} held build`);
    expect(words).not.toContain('x'.repeat(70));
  });

  it('shows the shared attribute of the failures before their causes', () => {
    expect(linesOf(worst).join('\n')).toContain(`
common  22 of 23 failures have osName=Windows* (22 of 66 there, 1 of 46
        elsewhere)
        hold them alone: upwave hold 'osName=Windows*'
failed  `);
  });

  const heldByFailures = { ...held, headline: { kind: 'held', needsPerson: true } } as const;

  it('begins at a hold with the group that explains most failures, before the rollout continues', () => {
    const given = { sharedAttribute: shared, causes: [{ of: 'failed', ...failing }] } as const;
    const lines = shown({ ...heldByFailures, ...given });
    expect(under('do', lines)).toEqual([
      "upwave hold 'osName=Windows*', then   upwave resume production --hold 17   | abort",
    ]);
    expect(lines.join()).not.toContain('hold them alone');
    expect(under('common', lines)).toHaveLength(1);
    // Once it is held, a line of its own shows it.
    const strata = strataHolding(aHeldStratum({ label: 'osName=Windows*', waiting: 15 }));
    expect(under('common', shown({ ...heldByFailures, ...given, strata }))).toEqual([]);
    // Attempts that are retried have stopped nothing.
    const others = { ...failing, of: 'retrying', total: 60 } as const;
    const more = shown({ ...heldByFailures, ...given, causes: [...given.causes, others] });
    expect(under('do', more)).toEqual(under('do', lines));
    const fewer = shown({ ...heldByFailures, ...given, causes: [{ ...failing, of: 'failed', total: 60 }] });
    // A held build: the one line with the commands has all three, in their order.
    const buildHold = { build: '19.536-4', by: 'daemon', reason: 'it tripped a canary', at: startedAt };
    const broke = shown({ ...heldByFailures, ...given, buildHold, verbs: ['abort'] });
    expect(under('do', broke)).toEqual([
      "upwave hold 'osName=Windows*', then   upwave release 19.536-4, then   upwave resume production --hold 17   | abort",
    ]);
    expect(under('held', broke).join('\n')).toMatch(/build 19\.536-4 is held \(by daemon\)$/m);
    expect(under('do', fewer)).toEqual(['upwave resume production --hold 17   | abort']);
  });

  it('releases held strata before a resume that would end the rollout without them, and holds no group again', () => {
    const given = {
      ...heldByFailures,
      reasonKind: 'onlyHeldStrata',
      sharedAttribute: shared,
      causes: [{ of: 'failed', ...failing }],
      counts: countsOf({ failed: 15, pending: 15 }),
    } as const;
    const stratum = aHeldStratum({ label: 'osName=Windows*', waiting: 15 });
    const all = [stratum, aHeldStratum(), aHeldStratum({ label: 'AIX' }), aHeldStratum({ label: 'HP-UX' })];
    const resume = 'upwave resume production --hold 17   | abort';
    const waves = [aWaveStatus({ setAside: 15 })];
    const doOf = (changes: Partial<RolloutStatus>) => under('do', shown({ ...given, ...changes }));
    expect(doOf({ waves, strata: strataHolding(stratum) })).toEqual([
      `upwave release 'osName=Windows*', then   ${resume}`,
    ]);
    expect(doOf({ waves, strata: strataHolding(...all) })).toEqual([`upwave holds, then   ${resume}`]);
    expect(doOf({})).toEqual([resume]);
    expect(shown(given).join()).not.toContain('hold them alone');
    // The cause may stand: released collectors would fail again. So the end without them is as good.
    const failed = { ...stratum, failed: 15 };
    const ends = 'upwave resume production --hold 17 (ends without them), or';
    expect(doOf({ waves, strata: strataHolding(failed) })).toEqual([
      `${ends}   upwave release 'osName=Windows*' first   | abort`,
    ]);
    expect(doOf({ waves, strata: strataHolding(failed, ...all.slice(1)) })).toEqual([
      `${ends}   release some of them first: upwave holds   | abort`,
    ]);
  });

  it('shows how to hold only the collectors with the shared attribute', () => {
    expect(linesOf(worst).join('\n')).toContain("hold them alone: upwave hold 'osName=Windows*'");
    const heldStrata = strataHolding(aHeldStratum({ label: 'osName=Windows*' }));
    for (const given of [
      { ...worst, strata: heldStrata },
      { ...worst, endedAt: startedAt },
    ])
      expect(linesOf(given).join('\n')).not.toContain('hold them alone');
  });

  it('shows no end of a soak that is in the past, while the last check is awaited', () => {
    const soaked = (soakEndsAt: number) =>
      shown({ waves: [aWaveStatus({ state: 'soaking', soakEndsAt })] }).find((line) =>
        line.includes('soaking'),
      );
    expect(soaked(startedAt + hour)).toContain(`until ${minuteOf(startedAt + hour)}`);
    expect(soaked(startedAt)).toContain('budget 0/0   soak over, last check');
  });

  it('is red for failures, and yellow where a person is needed', () => {
    const paint = (format: unknown, text: string) => `<${String(format)}>${text}</>`;
    const text = renderStatus(busy, startedAt, { paint });
    expect(text).toContain('<bold,yellow>NEEDS YOU: approve wave rest</>');
    expect(text).toContain('<red>11 failed</>');
    expect(text).toContain('<yellow>WAITS FOR YOU</>');
    expect(text).toContain('<yellow>upwave approve production --wave rest</>');
  });
});

it('a status lets no foreign text control the terminal', () => {
  const status = aRolloutStatus({
    ...{
      state: 'awaitingApproval',
      drift,
      buildHold,
      blockers: [{ ...planApproval, kind: 'turn' }],
      window: closed,
    },
    ...{ rollbackId: 'r-2', rollbackOf: 'r-1', leftOut: [{ kind: 'notAsked', reason: 'old', count: 1 }] },
    strata: { ...strataIn('AIX'), held: [aHeldStratum({ kind: 'asked' })] },
    waves: [aWaveStatus(), aWaveStatus({ state: 'waiting', waits: 'gate of canary' })],
  });
  const texts =
    /"(id|policy|rollback\w+|\w*[bB]uilds?|startedBy|by|planHash|reason|from|words|label|labels|name|waits)":("[^"]*"|\["[^"]*"\])/g;
  const hostile = JSON.stringify(status).replaceAll(texts, (_all, key: string, value: string) => {
    const text = JSON.stringify(clearScreen);
    return `"${key}":${value.startsWith('[') ? `[${text}]` : text}`;
  });
  const lines = linesOf(JSON.parse(hostile), 1_000);
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.join()).not.toContain('\u001b');
});
