import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderStatus } from '../../../../src/cli/rollouts/render-status.ts';
import { upgradeStates } from '../../../../src/rollout/model/upgrade.ts';
import type { Standstill } from '../../../../src/rollout/status/api-budget-status.ts';
import type { RolloutStatus } from '../../../../src/rollout/status/status.ts';
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
const linesOf = (status: RolloutStatus, rules?: Parameters<typeof renderStatus>[3]) =>
  renderStatus(status, startedAt, plain, rules).split('\n');
const shown = (changes: Partial<RolloutStatus>) => linesOf(aRolloutStatus(changes));
const startingWith = (label: string, lines: readonly string[]) =>
  lines.filter((line) => line.startsWith(label));

describe('the status of a rollout', () => {
  it('says where it is, from and to which build, by whom, and which plan', () => {
    const waves = [aWaveStatus({ state: 'passed' }), aWaveStatus({ name: 'early' })];
    expect(shown({ fromBuilds: ['19.441-9', '19.426-3'], waves })[0]).toBe(
      'production-20260302-1   19.441-9, 19.426-3 → 19.536-4   RUNNING wave 2/2 early   by schedule   plan 7f3a',
    );
  });

  it('says what has to be done, where that is more than its state', () => {
    const waves = [aWaveStatus({ state: 'awaitingApproval', waits: 'approval' })];
    expect(shown({ waves })[0]).toContain('   NEEDS APPROVAL wave 1/1 canary   ');
    const waitsFor = { kind: 'window', until: startedAt + hour } as const;
    expect(shown({ waitsFor })[0]).toContain('   WAITS FOR WINDOW wave 1/2 canary   ');
  });

  it('says how far it is, what is set aside, and when it ends with how many requests', () => {
    const counts = countsOf({ succeeded: 5, failed: 1, timedOut: 2, unconfirmed: 3, deferred: 4 });
    const waves = [aWaveStatus({ setAside: 2 }), aWaveStatus({ setAside: 5 })];
    const eta = { kind: 'at', at: startedAt, plusMinusMs: 10 * minute, requests: 24 } as const;
    const [line] = startingWith('progress', shown({ counts, waves, eta }));
    expect(line).toMatch(
      /^progress {2}█{11}░{12} {2}5\/10 ok {3}in flight 1\/50 {3}failed 6 {3}deferred 4 {3}set aside 7 {3}eta \d\d:\d\d:\d\d \(±10m\), 24 requests$/,
    );
    expect(startingWith('progress', shown({ eta: null }))[0]).toMatch(/deferred 0$/);
  });

  it('shows the use of the API budget, of a rollout that has not ended', () => {
    const api = anApiBudgetStatus({ requestsPerSecondMax: 2.1999, rateLimited: 3 });
    expect(startingWith('api', shown({ api }))).toEqual(['api       3.4/2.2 req/s   429s 3']);
    expect(startingWith('api', shown({ api: null }))).toEqual([]);
  });

  describe('while all wait for the service', () => {
    const waitsOf = (changes: Partial<Standstill>) =>
      startingWith('waits', shown({ api: anApiBudgetStatus({ standstill: aStandstill(changes) }) }));

    it('says which pause it asked for, until when', () => {
      expect(waitsOf({ until: startedAt + 10 * minute })).toEqual([
        expect.stringMatching(/^waits {5}the service asked for a pause, until \d\d:10:00$/),
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
        /^waits {5}the service does not answer since \d\d:01:00 \(getCollector: connect.* ECONNREFUSED\)/;
      const [next] = waitsOf({ ...down, until: startedAt + 2 * minute });
      expect(next).toMatch(words);
      expect(next).toMatch(/; next try \d\d:02:00$/);
      expect(next).not.toContain(clearScreen);
      const [trying] = waitsOf({ ...down, until: null });
      expect(trying).toMatch(words);
      expect(trying).toMatch(/; one request tries it now$/);
    });
  });

  describe('gate line', () => {
    const wave = { name: 'early', size: 102, joined: 2, failures: 1, failuresAllowed: 1 };
    const status = aRolloutStatus({ waves: [aWaveStatus(wave)] });
    const rule = (percent: number) => [
      aWaveRule({ name: 'early', maxFailures: { kind: 'percent', percent } }),
    ];

    it('shows failures, and the share that the policy allows of the wave as it was planned', () => {
      expect(linesOf(status, rule(1))).toContain('gate      failures 1 of 1 allowed in early (1% of 100)');
    });

    it('says what counts as more than one failure, and what an operator has accepted', () => {
      const wave = { size: 2, failures: 4, lost: 1 };
      expect(startingWith('gate', shown({ waves: [aWaveStatus(wave)] }))).toEqual([
        'gate      failures 4 (1 lost x 3) of 0 allowed in canary (2)',
      ]);
      const waves = [aWaveStatus({ ...wave, acknowledged: 4 })];
      expect(startingWith('gate', shown({ waves }))).toEqual([
        'gate      failures 4 of 0 allowed in canary (2), not counting 4 acknowledged',
      ]);
    });

    it('shows no share that is not known, is of another wave, or comes to another number', () => {
      const plainly = 'gate      failures 1 of 1 allowed in early (100)';
      expect(linesOf(status)).toContain(plainly);
      expect(linesOf(status, rule(2))).toContain(plainly);
      expect(
        linesOf(
          status,
          rule(1).map((each) => ({ ...each, name: 'rest' })),
        ),
      ).toContain(plainly);
    });

    it('shows how long the soak still lasts, and the words of each gate', () => {
      const gate = {
        name: 'prometheus',
        verdict: 'pass',
        value: 0.998,
        unanswered: 0,
        dryRun: false,
      } as const;
      const waves = [
        aWaveStatus({
          state: 'soaking',
          soakEndsAt: startedAt + 46 * minute,
          gates: [
            { ...gate, words: 'prometheus 0.998, expected >= 0.99' },
            { ...gate, words: `webhook ${clearScreen}` },
          ],
        }),
      ];
      expect(shown({ waves })).toContain(
        'gate      failures 0 of 0 allowed in canary (2)   soak 46m to go   prometheus 0.998, expected >= 0.99   webhook \\u001b[2J',
      );
    });

    it('shows no soak of a rollout that is being taken back', () => {
      const waves = [aWaveStatus({ state: 'soaking', soakEndsAt: startedAt + minute })];
      expect(shown({ waves, state: 'rollingBack' })).toContain(
        'gate      failures 0 of 0 allowed in canary (2)',
      );
      expect(startingWith('gate', shown({ waves, state: 'paused' }))[0]).toMatch(/soak 1m to go$/);
    });

    it('is not there once all waves have passed', () => {
      expect(startingWith('gate', shown({ waves: [aWaveStatus({ state: 'passed' })] }))).toEqual([]);
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
    expect(shown({ causes })).toContain('failed    2 timed out: no end within 35m (web-1, web-2)');
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
      'left      24 are not taken back from 19.536-4',
      'left      23: the service no longer offers the build they had: web-1 (had 19.1-1), web-2, …',
      'left      1: another rollout has them: web-9',
    ];
    expect(startingWith('left ', shown({ leftBehind, leftOut: [] }))).toEqual(lines);
    const back = { kind: 'rollback', fromBuilds: ['19.536-4'], targetBuild: '19.1-1' } as const;
    expect(startingWith('left ', shown({ leftBehind, leftOut: [], ...back }))).toEqual(lines);
  });

  it('names the builds that a rollback goes back to', () => {
    const headOf = (...backTo: readonly string[]) =>
      shown({ kind: 'rollback', fromBuilds: ['9'], backTo })[0];
    expect(headOf('1', '2')).toContain(' 9 → 1, 2   ');
    expect(headOf('1', '2', '3', '4', '5')).toContain(' 9 → 1, 2, 3, … (5 builds)   ');
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
      expect(lineOf({})).toBe('window    open until 23:12 Europe/Berlin (1h12m)');
      expect(lineOf({ until: startedAt + 8 * hour })).toContain('until 2026-03-03 06:00 Europe/Berlin (8h)');
      expect(lineOf({ until: null })).toBe('window    open');
    });

    it('says why it is closed, and when it opens', () => {
      const closed = { isOpen: false, reason: 'frozen: holidays', until: startedAt + 24 * hour };
      expect(lineOf(closed)).toBe(
        'window    closed: frozen: holidays, opens 2026-03-03 22:00 Europe/Berlin (1d)',
      );
      expect(lineOf({ ...closed, until: null })).toBe(
        'window    closed: frozen: holidays, and does not open in a year',
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
      'held      build 19.536-4 is held: it tripped a canary (by daemon); upwave release 19.536-4',
    );
    expect(startingWith('waits', lines)).toEqual(['waits     another reason']);
    expect(shown({ buildHold, blockers, state: 'held', hold: 17 })).toContain(
      'held      build 19.536-4 is held: it tripped a canary (by daemon); upwave release 19.536-4, then upwave resume production --hold 17',
    );
  });

  it('shows each held stratum with its figures, and what releases it', () => {
    const held = {
      label: 'Linux / amd64 / 19.441-2',
      reason: '3 of 4 failed, 1 of 80 elsewhere',
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
      'held      stratum Linux / amd64 / 19.441-2: 3 of 4 failed, 1 of 80 elsewhere; 7 wait; upwave release "Linux / amd64 / 19.441-2"',
      "held      stratum $(x) \\u001b[2J: 3 of 4 failed, 1 of 80 elsewhere; 7 wait; upwave release '$(x) \\u001b[2J'",
    ]);
  });

  it('offers no release of a stratum in a rollout that is over', () => {
    const held = { label: 'Linux', reason: '3 of 4 failed', by: 'daemon', at: startedAt, waiting: 0 };
    const strata = { total: 2, held: [held], uncovered: { count: 0, labels: [] } };
    expect(
      startingWith('held', shown({ strata, endedAt: startedAt, state: 'finishedWithFailures' })),
    ).toEqual(['held      stratum Linux: 3 of 4 failed']);
  });

  it('shows a plan that waits for approval, how it drifted, and what approves it', () => {
    const drift = { from: 'abcd', joined: 1, left: 0, words: '1 came (web-7)' };
    const blockers = [{ kind: 'planApproval', reason: 'the plan waits for approval', until: null } as const];
    const lines = shown({ state: 'awaitingApproval', drift, blockers });
    expect(lines).toContain('drift     since plan abcd: 1 came (web-7)');
    expect(lines).toContain('approval  the plan waits for it: upwave approve production --plan 7f3a');
    expect(startingWith('waits', lines)).toEqual([]);
  });

  it('shows a wave that waits for approval, and nothing of the kind where none does', () => {
    const waiting = aWaveStatus({ name: 'rest', state: 'awaitingApproval', waits: 'approval' });
    const waves = [aWaveStatus({ state: 'passed' }), waiting];
    expect(shown({ waves, verbs: ['approve'] })).toContain(
      'approval  wave rest waits for it: upwave approve production --wave rest',
    );
    expect(startingWith('approval', shown({}))).toEqual([]);
    const drift = { from: 'abcd', joined: 1, left: 0, words: '1 came' };
    expect(startingWith('drift', shown({ drift }))).toEqual([]);
  });

  it('names a state in words', () => {
    expect(shown({ state: 'finishedWithFailures' })[0]).toContain('   FINISHED WITH FAILURES wave ');
  });

  it('links a rollout and its rollback', () => {
    expect(
      shown({ state: 'rollingBack', reason: 'failures 3, allowed 1', rollbackId: 'production-2' }),
    ).toEqual(
      expect.arrayContaining([
        'rollback  failures 3, allowed 1',
        'rollback  is production-2: upwave status production-2',
      ]),
    );
    expect(shown({ kind: 'rollback', rollbackOf: 'production-1' })).toContain('rollback  of production-1');
    expect(startingWith('rollback', shown({}))).toEqual([]);
  });

  it.each([
    ['held', 'held      '],
    ['paused', 'paused    '],
    ['aborted', 'aborted   '],
    ['superseded', 'ended     '],
    ['rolledBack', 'rollback  '],
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
    expect(lines[0]).toBe('waits     all 50 slots are taken');
    expect(lines[1]).toMatch(/^waits {5}outside the window, until 2026-03-0[45] \d\d:\d\d$/);
  });

  it('shows each wave in a line, with the strata it covers', () => {
    const strata = { total: 12, held: [], uncovered: { count: 0, labels: [] } };
    const done = countsOf({
      succeeded: 90,
      upgrading: 2,
      retrying: 1,
      failed: 2,
      unconfirmed: 2,
      deferred: 3,
    });
    const waves = [
      aWaveStatus({ size: 100, strata: 12, counts: done, lost: 1, joined: 2, setAside: 4 }),
      aWaveStatus({
        name: 'early',
        size: 888,
        counts: countsOf({ pending: 888 }),
        strata: 7,
        state: 'waiting',
        waits: 'gate of canary, approval',
      }),
      aWaveStatus({
        name: 'rest',
        size: 8,
        counts: countsOf({ pending: 8 }),
        strata: 0,
        state: 'awaitingApproval',
        waits: 'approval',
      }),
    ];
    const lines = shown({ strata, waves });
    const at = lines.findIndex((line) => line.startsWith('wave '));
    expect(lines.slice(at, at + 4)).toEqual([
      'wave          size    ok  to do   run  retry  fail  lost  defer   strata  state',
      ' canary        100    90      0     2      1     3     1      3    12/12  open, 4 set aside, 2 came late',
      ' early         888     -    888     -      -     -     -      -     7/12  waits: gate of canary, approval',
      ' rest            8     -      8     -      -     -     -      -     0/12  waits: approval',
    ]);
  });

  it('adds up: the columns of a wave come to its size, whatever its collectors do (P9)', () => {
    fc.assert(
      fc.property(fc.tuple(...upgradeStates.map(() => fc.nat(30))), fc.nat(10), (numbers, lost) => {
        const counts = countsOf(
          Object.fromEntries(upgradeStates.map((state, at) => [state, numbers[at] ?? 0])),
        );
        const size = numbers.reduce((sum, number) => sum + number, 0);
        const failed = counts.failed + counts.timedOut + counts.unconfirmed;
        const wave = aWaveStatus({ size, counts, lost: Math.min(lost, failed) });
        const [line = ''] = startingWith(' canary', shown({ waves: [wave] }));
        const [, first = '', ...rest] = line.split(' 1/1 ')[0]?.trim().split(/ +/) ?? [];
        expect(rest.reduce((sum, cell) => sum + Number(cell), 0)).toBe(Number(first));
      }),
    );
  });

  it('says how many were withdrawn, taken back, or are tried again', () => {
    const counts = countsOf({ succeeded: 5, withdrawn: 2, rolledBack: 3, retrying: 1 });
    expect(startingWith('progress', shown({ counts, eta: null }))[0]).toMatch(
      /deferred 0 {3}to retry 1 {3}withdrawn 2 {3}taken back 3$/,
    );
  });

  it('says when a wave has passed, and until when one soaks', () => {
    const waves = [
      aWaveStatus({ state: 'passed', passedAt: startedAt }),
      aWaveStatus({ name: 'early', state: 'soaking', soakEndsAt: startedAt + 50 * hour }),
    ];
    const lines = shown({ waves });
    expect(startingWith(' canary', lines)[0]).toMatch(/ {2}passed \d\d:\d\d:\d\d$/);
    expect(startingWith(' early', lines)[0]).toMatch(/ {2}soaking, until 2026-03-0[45] \d\d:\d\d$/);
  });

  it('names strata that no wave before the last covers, until the last begins', () => {
    const strata = { total: 9, held: [], uncovered: { count: 3, labels: ['AIX', 'HP-UX'] } };
    const last = aWaveStatus({ name: 'rest', state: 'waiting', waits: 'gate of canary' });
    expect(shown({ strata, waves: [aWaveStatus(), last] })).toContain(
      'uncovered 3 of 9 strata are in no wave before rest: AIX; HP-UX; …',
    );
    const whole = { ...strata, uncovered: { count: 2, labels: ['AIX', 'HP-UX'] } };
    expect(shown({ strata: whole, waves: [aWaveStatus(), last] })).toContain(
      'uncovered 2 of 9 strata are in no wave before rest: AIX; HP-UX',
    );
    const many = { ...strata, uncovered: { count: 4, labels: ['AIX', 'HP-UX', 'IRIX', 'VMS'] } };
    expect(shown({ strata: many, waves: [aWaveStatus(), last] })).toContain(
      'uncovered 4 of 9 strata are in no wave before rest: AIX; HP-UX; IRIX; …',
    );
    expect(startingWith('uncovered', shown({ strata, waves: [last] }))).toEqual([]);
    const begun = [aWaveStatus({ state: 'passed' }), aWaveStatus()];
    expect(startingWith('uncovered', shown({ strata, waves: begun }))).toEqual([]);
  });

  it('shows the commands of what can be done, with what they have to name', () => {
    const waves = [aWaveStatus({ state: 'soaking', counts: countsOf({ failed: 1 }) })];
    const verbs = ['pause', 'skipSoak', 'abort', 'rollback', 'retry'] as const;
    expect(shown({ waves, verbs, counts: countsOf({ succeeded: 1, failed: 1 }) }).at(-1)).toBe(
      'do        upwave pause production | skip-soak production --wave canary | abort production | rollback production | retry production --failed 1',
    );
    const over = { kind: 'rollback', state: 'succeeded', endedAt: startedAt, verbs: [] } as const;
    expect(shown({ ...over, counts: countsOf({}) }).at(-1)).toBe('do        nothing: it is over');
    const ending = shown({ state: 'rollingBack', waves, verbs: [] });
    expect(ending.at(-1)).toBe('do        nothing: it ends by itself');
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
          held: [{ label: clearScreen, reason: clearScreen, by: clearScreen, at: startedAt, waiting: 1 }],
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
    const lines = linesOf(describeRollout(view, startedAt, anApiBudgetStatus()), [rule]);
    expect(lines).toContain(
      'gate      failures 0 of 0 allowed in rest (2% of 10)   soak 1h to go   pager was not asked yet',
    );
    expect(startingWith('waits', lines)[0]).toMatch(/^waits {5}wave rest soaks, until /);
  });
});
