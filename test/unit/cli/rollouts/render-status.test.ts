import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderStatus } from '../../../../src/cli/rollouts/render-status.ts';
import { upgradeStates } from '../../../../src/rollout/model/upgrade.ts';
import type { Standstill } from '../../../../src/rollout/status/api-budget-status.ts';
import type { RolloutStatus, WaveStatus } from '../../../../src/rollout/status/status.ts';
import { describeRollout } from '../../../../src/rollout/status/status.ts';
import type { WindowStatus } from '../../../../src/rollout/status/window.ts';
import {
  anApiBudgetStatus,
  aPolicy,
  aRollout,
  aStandstill,
  aStatus,
  aSummary,
  aView,
  aWave,
  aWaveRule,
  aWebhookGate,
  someGroups,
  startedAt,
} from '../../../support/builders.ts';
import { aRolloutStatus, aWaveStatus, countsOf } from '../../../support/fake-operations.ts';

const minute = 60_000;
const hour = 60 * minute;
const clearScreen = '\u001b[2J';

const plain = { paint: (_format: unknown, text: string) => text };
const linesOf = (status: RolloutStatus, columns?: number) =>
  renderStatus(status, startedAt, { ...plain, columns }).split('\n');
/** So wide that each line stays one. */
const shown = (changes: Partial<RolloutStatus>) => linesOf(aRolloutStatus(changes), 1_000);
const narrow = (changes: Partial<RolloutStatus>) => linesOf(aRolloutStatus(changes));
const startingWith = (label: string, lines: readonly string[]) =>
  lines.filter((line) => line.startsWith(label));

const aCause = { failureClass: null, strata: [{ label: 'Linux / amd64 / 19.441-2', count: 3 }] } as const;
const busy = aRolloutStatus({
  planned: 1_215,
  counts: countsOf({ succeeded: 180, failed: 9, timedOut: 2, pending: 1_024 }),
  waves: [
    aWaveStatus({ state: 'passed', passedAt: startedAt, counts: countsOf({ succeeded: 61, failed: 9 }) }),
    aWaveStatus({ name: 'early', state: 'passed', counts: countsOf({ succeeded: 119, timedOut: 2 }) }),
    aWaveStatus({
      name: 'rest',
      state: 'awaitingApproval',
      waits: 'approval',
      size: 1_024,
      counts: countsOf({ pending: 1_024 }),
    }),
  ],
  eta: { kind: 'afterApproval', approvalAt: null, durationMs: 100_000, plusMinusMs: minute, requests: 2_400 },
  strata: { total: 12, held: [], uncovered: { count: 2, labels: ['AIX / ppc', 'Solaris / sparc'] } },
  causes: [
    {
      of: 'failed',
      total: 11,
      causes: ['permission denied', 'x'.repeat(160)].map((text) => ({
        ...aCause,
        kind: 'failed',
        text,
        count: 5,
        otherStrata: { count: 2, strata: 5 },
        names: ['dev-web-224'],
      })),
      others: { count: 1, causes: 1, unread: 0 },
    },
  ],
  blockers: [{ kind: 'waveApproval', reason: 'wave rest waits for approval', until: null }],
  verbs: ['pause', 'approve', 'abort', 'rollback'],
});

describe('the status of a rollout', () => {
  it('says in its first line which rollout it is, where to, what it needs or does, and for how long', () => {
    const waves = [aWaveStatus({ state: 'passed' }), aWaveStatus({ name: 'early' })];
    const [running] = narrow({ waves, createdAt: startedAt - 9_060_000 });
    expect(running).toBe('production-20260302-1  → 19.536-4        RUNNING wave 2/2 early            2h31m');
    const waiting = [aWaveStatus({ name: 'rest', state: 'awaitingApproval', waits: 'approval' })];
    expect(shown({ waves: waiting })[0]).toContain('  NEEDS YOU: approve wave rest  ');
    expect(shown({ state: 'awaitingApproval' })[0]).toContain('  NEEDS YOU: approve the plan  ');
    expect(shown({ state: 'held' })[0]).toContain('  NEEDS YOU: it is held  ');
    const waitsFor = { kind: 'window', until: startedAt + hour } as const;
    expect(shown({ waitsFor })[0]).toContain('  WAITS FOR WINDOW wave 1/2 canary  ');
    expect(shown({ state: 'finishedWithFailures', endedAt: startedAt })[0]).toContain(
      '  FINISHED WITH FAILURES  ',
    );
  });

  it('has room for a long name in two lines', () => {
    const [first, second] = narrow({ id: 'a'.repeat(70), state: 'held' });
    expect(first).toBe(`${'a'.repeat(70)}  → 19.536-4`);
    expect(second).toMatch(/^NEEDS YOU: it is held +0s$/);
  });

  it('says how far it is, and what each collector does that has not succeeded', () => {
    const counts = countsOf({
      succeeded: 5,
      failed: 1,
      timedOut: 2,
      unconfirmed: 3,
      deferred: 4,
      retrying: 1,
    });
    const waves = [aWaveStatus({ setAside: 2 }), aWaveStatus({ setAside: 5 })];
    expect(startingWith('all', narrow({ counts, waves }))).toEqual([
      'all     █████████████░░░░░░░░░░░░░  5/10   6 failed   1/50 in flight',
    ]);
    expect(narrow({ counts, waves })).toContain('        1 to retry   4 deferred   7 of these set aside');
  });

  it('says when it is expected to end, and what the service is asked', () => {
    const eta = { kind: 'at', at: startedAt, plusMinusMs: 10 * minute, requests: 24 } as const;
    const api = anApiBudgetStatus({ requestsPerSecondMax: 2.1999, rateLimited: 3 });
    expect(startingWith('end', shown({ eta, api }))[0]).toMatch(
      /^end {5}about \d\d:\d\d:\d\d \(±10m\), 24 requests {3}3\.4\/2\.2 requests\/s {3}429s 3$/,
    );
    expect(startingWith('end', shown({ eta: null, api: null }))).toEqual([]);
  });

  it('fits 80 columns and 24 lines where a wave needs approval and upgrades failed for several reasons', () => {
    const lines = linesOf(busy);
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(lines.filter(({ length }) => length > 80)).toEqual([]);
  });

  it('is red for what failed, and yellow for what needs a person', () => {
    const paint = (format: unknown, text: string) => `<${String(format)}>${text}</>`;
    const text = renderStatus(busy, startedAt, { paint });
    expect(text).toContain('<bold,yellow>NEEDS YOU: approve wave rest</>');
    expect(text).toContain('<red>11 failed</>');
    expect(text).toContain('<yellow>WAITS FOR YOU</>');
    expect(text).toContain('<yellow>upwave approve production --wave rest</>');
  });

  describe('while all wait for the service', () => {
    const waitsOf = (changes: Partial<Standstill>) =>
      startingWith('waits', shown({ api: anApiBudgetStatus({ standstill: aStandstill(changes) }) }));

    it('says which pause it asked for, until when', () => {
      expect(waitsOf({ until: startedAt + 10 * minute })).toEqual([
        expect.stringMatching(/^waits {3}the service asked for a pause, until \d\d:10:00$/),
      ]);
    });

    it('says since when it is down, why, and when it is tried next', () => {
      const down = {
        kind: 'serviceDown',
        reason: 'the service does not answer',
        detail: 'getCollector: connect\u001b[2J ECONNREFUSED.',
        since: startedAt + minute,
      } as const;
      const words =
        /^waits {3}the service does not answer since \d\d:01:00 \(getCollector: connect.* ECONNREFUSED\)/;
      const [next] = waitsOf({ ...down, until: startedAt + 2 * minute });
      expect(next).toMatch(words);
      expect(next).toMatch(/; next try \d\d:02:00$/);
      expect(next).not.toContain(clearScreen);
      const [trying] = waitsOf({ ...down, until: null });
      expect(trying).toMatch(words);
      expect(trying).toMatch(/; one request tries it now$/);
    });
  });

  describe('the budget of a wave', () => {
    const budgetOf = (changes: Partial<WaveStatus>) =>
      startingWith('canary', shown({ waves: [aWaveStatus(changes)] }))[0];

    it('shows failures against the limit, what counts as more, and what is acknowledged', () => {
      expect(budgetOf({ failures: 1, failuresAllowed: 2 })).toContain('   budget 1/2   ');
      expect(budgetOf({ failures: 4, lost: 1 })).toContain('   budget 4/0 (1 lost, each counts 3)');
      expect(budgetOf({ failures: 0, lost: 1, acknowledged: 4 })).toContain('   budget 0/0 (4 acknowledged)');
    });

    it('shows until when it soaks, and the words of each gate', () => {
      const gate = {
        name: 'prometheus',
        verdict: 'pass',
        value: 0.998,
        unanswered: 0,
        dryRun: false,
      } as const;
      const soaking = {
        state: 'soaking',
        soakEndsAt: startedAt + 46 * minute,
        gates: [
          { ...gate, words: 'prometheus 0.998' },
          { ...gate, words: `webhook ${clearScreen}` },
        ],
      } as const;
      expect(budgetOf(soaking)).toMatch(/ until \d\d:46 \S+ {3}prometheus 0\.998 {3}webhook/);
      expect(budgetOf(soaking)).toMatch(/webhook \\u001b\[2J {3}1 in flight$/);
    });
  });

  it('says why upgrades did not succeed', () => {
    const cause = {
      kind: 'timedOut',
      failureClass: 'timedOut',
      text: 'no end within 35m',
      count: 2,
      strata: [{ label: 'Linux', count: 2 }],
      otherStrata: { count: 0, strata: 0 },
      names: ['web-1', 'web-2'],
    } as const;
    const causes = [
      { of: 'failed', total: 2, causes: [cause], others: { count: 0, causes: 0, unread: 0 } },
    ] as const;
    expect(shown({ causes })).toContain('failed  2 timed out: no end within 35m   web-1 and 1 more');
  });

  it('says whom a rollback leaves behind, why, and some by name, in both rollouts', () => {
    const leftBehind = [
      {
        kind: 'buildNotOffered' as const,
        reason: 'the service no longer offers the build they had',
        count: 23,
        names: ['web-1 (had 19.1-1)', 'web-2'],
      },
      { kind: 'claimed' as const, reason: 'another rollout has them', count: 1, names: ['web-9'] },
    ];
    const lines = [
      'left    24 are not taken back from 19.536-4',
      'left    23: the service no longer offers the build they had: web-1 (had 19.1-1), web-2, …',
      'left    1: another rollout has them: web-9',
    ];
    expect(startingWith('left ', shown({ leftBehind, leftOut: [] }))).toEqual(lines);
    const back = { kind: 'rollback', fromBuilds: ['19.536-4'], targetBuild: '19.1-1' } as const;
    expect(startingWith('left ', shown({ leftBehind, leftOut: [], ...back }))).toEqual(lines);
  });

  it('names the builds that a rollback goes back to', () => {
    const headOf = (...backTo: readonly string[]) =>
      shown({ kind: 'rollback', fromBuilds: ['9'], backTo })[0];
    expect(headOf('1', '2')).toContain('  → 1, 2  ');
    expect(headOf('1', '2', '3', '4', '5')).toContain('  → 1, 2, 3, … (5 builds)  ');
  });

  describe('window line', () => {
    const window: WindowStatus = {
      isOpen: true,
      until: startedAt + 72 * minute,
      reason: '',
      timeZone: 'Europe/Berlin',
      ownZones: false,
    };
    const lineOf = (changes: Partial<WindowStatus>) =>
      startingWith('window', shown({ window: { ...window, ...changes } }))[0];

    it('says until when it is open, in its own time zone', () => {
      expect(lineOf({})).toBe('window  open until 23:12 Europe/Berlin (1h12m)');
      expect(lineOf({ until: startedAt + 8 * hour })).toContain('until 2026-03-03 06:00 Europe/Berlin (8h)');
      expect(lineOf({ until: null })).toBe('window  open');
    });

    it('says why it is closed, and when it opens', () => {
      const closed = { isOpen: false, reason: 'frozen: holidays', until: startedAt + 24 * hour };
      expect(lineOf(closed)).toBe(
        'window  closed: frozen: holidays, opens 2026-03-03 22:00 Europe/Berlin (1d)',
      );
      expect(lineOf({ ...closed, until: null })).toBe(
        'window  closed: frozen: holidays, and does not open in a year',
      );
    });

    it('says so where collectors go by their own time zones', () => {
      expect(lineOf({ ownZones: true })).toMatch(/\(1h12m\); by each collector's own time zone$/);
    });

    it('is not there without windows, and after the end', () => {
      expect(startingWith('window', shown({}))).toEqual([]);
      expect(startingWith('window', shown({ window, endedAt: startedAt }))).toEqual([]);
    });
  });

  it('shows a held build once, with what releases it', () => {
    const buildHold = { build: '19.536-4', by: 'daemon', reason: 'it tripped a canary', at: startedAt };
    const blockers = [
      { kind: 'buildHeld', reason: 'build 19.536-4 is held: it tripped a canary', until: null },
      { kind: 'turn', reason: 'another reason', until: null },
    ] as const;
    const lines = shown({ buildHold, blockers });
    expect(lines).toContain(
      'held    build 19.536-4 is held: it tripped a canary (by daemon); upwave release 19.536-4',
    );
    expect(startingWith('waits', lines)).toEqual(['waits   another reason']);
    expect(shown({ buildHold, blockers, state: 'held', hold: 17 })).toContain(
      'held    build 19.536-4 is held: it tripped a canary (by daemon); upwave release 19.536-4, then upwave resume production --hold 17',
    );
  });

  it('shows each held stratum with its figures, and what releases it', () => {
    const held = {
      label: 'Linux / amd64 / 19.441-2',
      reason: '3 of 4 failed, 1 of 80 elsewhere',
      kind: 'outlier' as const,
      by: 'daemon',
      at: startedAt,
      waiting: 7,
    };
    const strata = {
      total: 2,
      held: [held, { ...held, label: `$(x) ${clearScreen}` }],
      uncovered: { count: 0, labels: [] },
    };
    expect(startingWith('held', shown({ strata }))).toEqual([
      'held    stratum Linux / amd64 / 19.441-2: 3 of 4 failed, 1 of 80 elsewhere; 7 wait; upwave release "Linux / amd64 / 19.441-2"',
      "held    stratum $(x) \\u001b[2J: 3 of 4 failed, 1 of 80 elsewhere; 7 wait; upwave release '$(x) \\u001b[2J'",
    ]);
  });

  it('offers no release of a stratum in a rollout that is over', () => {
    const held = {
      label: 'Linux',
      kind: 'outlier' as const,
      reason: '3 of 4 failed',
      by: 'daemon',
      at: startedAt,
      waiting: 0,
    };
    const strata = { total: 2, held: [held], uncovered: { count: 0, labels: [] } };
    expect(
      startingWith('held', shown({ strata, endedAt: startedAt, state: 'finishedWithFailures' })),
    ).toEqual(['held    stratum Linux: 3 of 4 failed']);
  });

  it('shows a plan that waits for approval, how it drifted, and what approves it', () => {
    const drift = { from: 'abcd', joined: 1, left: 0, words: '1 came (web-7)' };
    const blockers = [{ kind: 'planApproval', reason: 'the plan waits for approval', until: null } as const];
    const lines = shown({ state: 'awaitingApproval', drift, blockers });
    expect(lines).toContain('drift   since plan abcd: 1 came (web-7)');
    expect(startingWith('waits', lines)).toEqual([]);
  });

  it('shows how a plan drifted only while it waits for approval', () => {
    const drift = { from: 'abcd', joined: 1, left: 0, words: '1 came' };
    expect(startingWith('drift', shown({ drift }))).toEqual([]);
  });

  it('links a rollout and its rollback', () => {
    expect(
      shown({ state: 'rollingBack', reason: 'failures 3, allowed 1', rollbackId: 'production-2' }),
    ).toEqual(
      expect.arrayContaining([
        'back    failures 3, allowed 1',
        'back    by production-2: upwave status production-2',
      ]),
    );
    expect(shown({ kind: 'rollback', rollbackOf: 'production-1' })).toContain(
      'back    the rollback of production-1',
    );
    expect(startingWith('back', shown({}))).toEqual([]);
  });

  it.each([
    ['held', 'held    '],
    ['paused', 'paused  '],
    ['aborted', 'aborted '],
    ['superseded', 'ended   '],
    ['rolledBack', 'back    '],
  ] as const)('says why it is %s, once', (state, label) => {
    const kind = state === 'held' || state === 'paused' ? state : undefined;
    const blockers = kind === undefined ? [] : [{ kind, reason: 'by alice', until: null }];
    const lines = shown({ state, reason: 'by alice', blockers });
    expect(lines).toContain(`${label}by alice`);
    expect(lines.filter((line) => line.includes('by alice'))).toHaveLength(1);
  });

  it('says what it waits for, and until when', () => {
    const blockers = [
      { kind: 'concurrency', reason: 'all 50 slots are taken', until: null },
      { kind: 'window', reason: 'outside the window', until: startedAt + 50 * hour },
    ] as const;
    const lines = startingWith('waits', shown({ blockers }));
    expect(lines[0]).toBe('waits   all 50 slots are taken');
    expect(lines[1]).toMatch(/^waits {3}outside the window, until 2026-03-0[45] \d\d:\d\d$/);
  });

  it('shows each wave in a line: its stage, its numbers, and what it waits for', () => {
    const done = countsOf({
      succeeded: 90,
      upgrading: 2,
      retrying: 1,
      failed: 2,
      unconfirmed: 2,
      deferred: 3,
    });
    const waves = [
      aWaveStatus({
        size: 100,
        counts: done,
        failures: 6,
        failuresAllowed: 6,
        lost: 1,
        joined: 2,
        setAside: 4,
      }),
      aWaveStatus({
        name: 'early',
        size: 888,
        state: 'waiting',
        waits: 'gate of canary, approval',
        counts: countsOf({ pending: 888 }),
      }),
      aWaveStatus({
        name: 'rest',
        size: 8,
        state: 'awaitingApproval',
        waits: 'approval',
        counts: countsOf({ pending: 8 }),
      }),
    ];
    const eta = {
      kind: 'afterApproval',
      approvalAt: null,
      durationMs: 100_000,
      plusMinusMs: 0,
      requests: 1,
    } as const;
    expect(shown({ waves, eta }).slice(2, 5)).toEqual([
      'canary  open     90 ok   4 failed   budget 6/6 (1 lost, each counts 3)   2 in flight   1 to retry   3 deferred   4 of these set aside   2 came late',
      'early   waiting   0/888   for gate of canary, approval',
      'rest    WAITS FOR YOU   0/8   then about 1m40s',
    ]);
  });

  it('adds up: the numbers of a wave come to its size, whatever its collectors do (P9)', () => {
    fc.assert(
      fc.property(fc.tuple(...upgradeStates.map(() => fc.nat(30))), (numbers) => {
        const counts = countsOf(
          Object.fromEntries(upgradeStates.map((state, at) => [state, numbers[at] ?? 0])),
        );
        const size = numbers.reduce((sum, number) => sum + number, 0);
        const [line = ''] = startingWith('canary', shown({ waves: [aWaveStatus({ size, counts })] }));
        const shownNumbers = line.replace(/budget \S+/, '').match(/\d+/g) ?? [];
        expect(shownNumbers.reduce((sum, number) => sum + Number(number), 0)).toBe(size);
      }),
    );
  });

  it('says when a wave has passed, and until when one soaks', () => {
    const waves = [
      aWaveStatus({ state: 'passed', passedAt: startedAt }),
      aWaveStatus({ name: 'early', state: 'soaking', soakEndsAt: startedAt + 50 * hour }),
    ];
    const lines = shown({ waves });
    expect(startingWith('canary', lines)[0]).toMatch(/ {3}\d\d:\d\d \S+ {3}1 in flight$/);
    expect(startingWith('early', lines)[0]).toMatch(/ {3}until 2026-03-0[45] \d\d:\d\d /);
  });

  it('names strata that no wave before the last covers, until the last begins', () => {
    const strata = { total: 9, held: [], uncovered: { count: 3, labels: ['AIX', 'HP-UX'] } };
    const last = aWaveStatus({ name: 'rest', state: 'waiting', waits: 'gate of canary' });
    expect(shown({ strata, waves: [aWaveStatus(), last] })).toContain(
      'strata  3 of 9 strata are in no wave before rest: AIX; HP-UX; …',
    );
    const whole = { ...strata, uncovered: { count: 2, labels: ['AIX', 'HP-UX'] } };
    expect(shown({ strata: whole, waves: [aWaveStatus(), last] })).toContain(
      'strata  2 of 9 strata are in no wave before rest: AIX; HP-UX',
    );
    const many = { ...strata, uncovered: { count: 4, labels: ['AIX', 'HP-UX', 'IRIX', 'VMS'] } };
    expect(shown({ strata: many, waves: [aWaveStatus(), last] })).toContain(
      'strata  4 of 9 strata are in no wave before rest: AIX; HP-UX; IRIX; …',
    );
    expect(startingWith('strata', shown({ strata, waves: [last] }))).toEqual([]);
    const begun = [aWaveStatus({ state: 'passed' }), aWaveStatus()];
    expect(startingWith('strata', shown({ strata, waves: begun }))).toEqual([]);
  });

  it('shows the commands of what can be done, with what they have to name', () => {
    const waves = [aWaveStatus({ state: 'soaking', counts: countsOf({ failed: 1 }) })];
    const verbs = ['pause', 'skipSoak', 'abort', 'rollback', 'retry'] as const;
    expect(shown({ waves, verbs, counts: countsOf({ succeeded: 1, failed: 1 }) }).at(-1)).toBe(
      'do      upwave pause production   | skip-soak | abort | rollback | retry',
    );
    expect(shown({ state: 'held', hold: 17, verbs: ['abort', 'resume'] }).at(-1)).toBe(
      'do      upwave resume production --hold 17   | abort',
    );
    const over = { kind: 'rollback', state: 'succeeded', endedAt: startedAt, verbs: [] } as const;
    expect(shown({ ...over, counts: countsOf({}) }).at(-1)).toBe('do      nothing: it is over');
    const ending = shown({ state: 'rollingBack', waves, verbs: [] });
    expect(ending.at(-1)).toBe('do      nothing: it ends by itself');
  });

  it('lets nothing from outside move the terminal', () => {
    const text = renderStatus(
      aRolloutStatus({
        id: clearScreen,
        policy: clearScreen,
        fromBuilds: [clearScreen],
        targetBuild: clearScreen,
        startedBy: clearScreen,
        planHash: clearScreen,
        reason: clearScreen,
        state: 'awaitingApproval',
        drift: { from: clearScreen, joined: 0, left: 0, words: clearScreen },
        rollbackId: clearScreen,
        rollbackOf: clearScreen,
        leftOut: [{ kind: 'text', reason: clearScreen, count: 1 }],
        buildHold: { build: clearScreen, by: clearScreen, reason: clearScreen, at: startedAt },
        blockers: [{ kind: 'turn', reason: clearScreen, until: null }],
        window: { isOpen: false, until: null, reason: clearScreen, timeZone: 'UTC', ownZones: false },
        strata: {
          total: 1,
          held: [
            {
              label: clearScreen,
              kind: 'asked',
              reason: clearScreen,
              by: clearScreen,
              at: startedAt,
              waiting: 1,
            },
          ],
          uncovered: { count: 1, labels: [clearScreen] },
        },
        waves: [
          aWaveStatus({ name: clearScreen }),
          aWaveStatus({ name: clearScreen, state: 'waiting', waits: clearScreen }),
        ],
      }),
      startedAt,
      plain,
    );
    expect(text).not.toContain('\u001b');
  });

  it('is made from what the daemon decides', () => {
    const gate = aWebhookGate({ name: 'pager' });
    const rule = aWaveRule({ soakMs: hour, gates: [gate] });
    const rollout = aRollout({
      policy: aPolicy({ waves: [rule] }),
      waves: [aWave({ state: 'soaking', soakEndsAt: startedAt + hour, gates: [aStatus()] })],
    });
    const view = aView({ rollout, waves: [aSummary({ succeeded: 10 })], groups: someGroups() });
    const lines = linesOf(describeRollout(view, startedAt, anApiBudgetStatus()), 1_000);
    expect(startingWith('rest', lines)[0]).toMatch(
      / budget 0\/0 {3}until \S+ \S+ {3}pager was not asked yet$/,
    );
    expect(startingWith('waits', lines)[0]).toMatch(/^waits {3}wave rest soaks, until /);
  });
});
