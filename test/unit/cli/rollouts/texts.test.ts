import { describe, expect, it } from 'vitest';
import { renderAudit } from '../../../../src/cli/history/audit-command.ts';
import { renderBuildHistory } from '../../../../src/cli/inventory/build-history-command.ts';
import { renderExplanation } from '../../../../src/cli/rollouts/explain-command.ts';
import { renderHolds } from '../../../../src/cli/rollouts/holds-commands.ts';
import { renderPreview } from '../../../../src/cli/rollouts/start-command.ts';
import {
  showInstant,
  showInstantIn,
  showMinute,
  showSecond,
  showZoned,
} from '../../../../src/cli/shell/show-instant.ts';
import type { StartPreview } from '../../../../src/contract/admin/policies.ts';
import { summarizeBuilds } from '../../../../src/rollout/report/build-history.ts';
import { quoteArgument } from '../../../../src/rollout/status/command-for.ts';
import { aBuildRecord, startedAt } from '../../../support/builders.ts';
import { anExplanation } from '../../../support/fake-operations.ts';

const hour = 3_600_000;
const clearScreen = '\u001b[2J';

describe('an instant', () => {
  it.each([
    // 2026-03-02T21:00Z is 22:00 in Berlin.
    ['Europe/Berlin', hour, '23:00'],
    ['Europe/Berlin', 2 * hour, '2026-03-03 00:00'],
    ['UTC', 2 * hour, '23:00'],
    ['UTC', -22 * hour, '2026-03-01 23:00'],
  ])('has no date where it is today in its time zone: %s', (zone, inMs, shown) => {
    expect(showInstantIn(zone, startedAt + inMs, startedAt)).toBe(shown);
  });

  it("is shown in this machine's time zone, to the second where it is today", () => {
    const at = new Date(2026, 5, 15, 12, 34, 56).getTime();
    expect(showInstant(at, at + 10 * hour)).toBe('12:34:56');
    expect(showInstant(at, at + 24 * hour)).toBe('2026-06-15 12:34');
    expect(showInstantIn('no/zone', at, at)).toBe('12:34');
  });
});

describe('the audit', () => {
  it('has seconds on every day and the time zone, names the daemon, and stands in columns', () => {
    const at = new Date(2026, 5, 15, 12, 34, 56).getTime();
    const held = { event: 'build.held', subject: '19.455-2', by: 'daemon', reason: 'disk full' } as const;
    const paused = { event: 'rollout.paused', subject: 'production-1', by: 'al', reason: '' } as const;
    const entries = [
      { ...held, at },
      { ...paused, at: at - 24 * hour },
    ];
    const zone = showMinute(at, at).split(' ')[1];
    expect(renderAudit(entries, at).split('\n')).toEqual([
      `12:34:56 ${zone}             daemon  build.held      19.455-2: disk full`,
      `2026-06-14 12:34:56 ${zone}  al      rollout.paused  production-1`,
    ]);
  });
});

describe('the history of builds', () => {
  const linux = { label: 'Linux', tried: 1_200, failed: { retry: 3 }, returned: 1_197, medianMs: 60_000 };
  const windows = {
    label: 'Windows Server 2016',
    tried: 4,
    failed: { retry: 2 },
    returned: 2,
    medianMs: null,
  };

  it('has a line for each build, and one for each further stratum with failures', () => {
    const older = aBuildRecord({ build: '19.525-63', strata: [{ ...linux, failed: {}, returned: 1_200 }] });
    const builds = summarizeBuilds([aBuildRecord({ strata: [linux, windows] }), older]);
    const ended = showZoned(startedAt, startedAt + 48 * hour);
    const cells = renderBuildHistory(builds, startedAt + 48 * hour)
      .split('\n')
      .flatMap((line) => (line.includes('│') ? [line.split('│').map((cell) => cell.trim())] : []))
      .map((line) => line.slice(1, -1));
    expect(cells).toEqual([
      ['build', 'tried', 'failed', 'rollouts', 'last', 'failed most'],
      ['19.536-4', '1,204', '5 (0.4%)', '1', ended, 'Windows Server 2016: 2 of 4'],
      ['', '', '', '', '', 'Linux: 3 of 1,200'],
      ['19.525-63', '1,200', '0', '1', ended, ''],
    ]);
  });

  it('names the account where there are several, and is a sentence where it is empty', () => {
    const builds = summarizeBuilds([aBuildRecord()]).map((each) => ({ ...each, accountName: 'eu' }));
    expect(renderBuildHistory(builds, startedAt)).toMatch(/account .*\n.*\n?.*eu +│ 19\.536-4/);
    expect(renderBuildHistory([], startedAt)).toBe('No rollout with upgrades has ended yet.');
  });
});

describe('an argument to be copied', () => {
  it.each([
    ['19.455-2', '19.455-2'],
    ['Linux / amd64 / 19.441-2', '"Linux / amd64 / 19.441-2"'],
    ['it is $(reboot)', "'it is $(reboot)'"],
    ['`reboot`', "'`reboot`'"],
    ['a "b" \\ !c', '\'a "b" \\ !c\''],
    ["it's; reboot", "'it'\\''s; reboot'"],
    [`x${clearScreen}`, "'x\\u001b[2J'"],
    ['', "''"],
  ])('%s is %s', (text, quoted) => {
    expect(quoteArgument(text)).toBe(quoted);
  });
});

describe('what is held', () => {
  it('is shown with operator, time and reason', () => {
    const word = { by: 'alice', reason: 'broken disk', at: startedAt };
    const stratum = { policy: 'production', rolloutId: 'production-1', isEnded: false, ...word };
    const held = {
      builds: [{ build: '19.455-2', ...word }],
      collectors: [
        { collectorId: 7, ...word, reason: '' },
        { collectorId: 8, name: 'web-8', ...word },
      ],
      groups: [
        {
          label: 'osName=AIX',
          attributes: [{ key: 'osName', value: 'AIX' }],
          by: 'alice',
          reason: '',
          at: startedAt,
        },
      ],
      strata: [
        // It is in the row of its group.
        { ...stratum, label: 'osName=AIX' },
        { ...stratum, label: `Linux ${clearScreen}` },
        { ...stratum, label: 'Windows', rolloutId: 'production-0', isEnded: true },
        { ...stratum, label: 'AIX', rolloutId: 'production-0', isEnded: true },
      ],
    };
    const since = showInstant(startedAt, startedAt + 48 * hour);
    expect(renderHolds(held, startedAt + 48 * hour).split('\n')).toEqual([
      `build 19.455-2   by alice, since ${since}: broken disk`,
      `collector 7   by alice, since ${since}`,
      `collector 8 web-8   by alice, since ${since}: broken disk`,
      `group osName=AIX   by alice, since ${since}`,
      `stratum Linux \\u001b[2J of production (production-1)   by alice, since ${since}: broken disk`,
      `stratum Windows and 1 more of production-0, which has ended   by alice, since ${since}: broken disk`,
    ]);
  });

  it('is nothing', () => {
    expect(renderHolds({ builds: [], collectors: [], groups: [], strata: [] }, startedAt)).toBe(
      'nothing is held',
    );
  });
});

describe('the explanation of a collector', () => {
  const about = { collectorId: 7, collectorName: 'web-7', build: '19.441-2' };

  it('shows for each policy its state, reason and end, and its earlier upgrades', () => {
    const until = startedAt + 50 * hour;
    const attempt = {
      taskId: '41',
      startedAt,
      endedAt: startedAt,
      state: 'retrying',
      reason: 'no space',
    } as const;
    const running = { taskId: null, startedAt, endedAt: null, state: 'upgrading', reason: '' } as const;
    const withdrawn = { rollout: 'other-1', state: 'withdrawn', reason: 'withdrawn: held by alice' } as const;
    const unplanned = { rollout: null, wave: null, state: null, reason: 'not selected' } as const;
    const explanations = [
      anExplanation({
        reason: 'outside the window',
        until,
        attempts: [attempt, running],
        heldGroup: 'fields.rack=r7',
        shared: {
          ...{ attributes: [{ key: 'osName', value: 'Linux' }], failed: 5, tried: 5 },
          ...{ elsewhere: { failed: 0, tried: 21 }, share: 0.1 },
        },
      }),
      anExplanation({ policy: 'other', ...withdrawn, target: null, stratum: null }),
      anExplanation({ policy: 'test', ...unplanned, stratum: null }),
    ];
    const builds = { policy: 'production', fromBuild: '19.1-1', toBuild: '19.2-2', attempts: [] };
    const back = { rollout: 'production-9', kind: 'rollback', state: 'succeeded', reason: 'alive' } as const;
    const before = { rollout: 'production-8', kind: 'upgrade', state: 'rolledBack', reason: '' } as const;
    const history = [
      { ...builds, ...back, at: startedAt },
      { ...builds, ...before, at: null },
    ];
    const attributes = [{ key: 'osName', value: 'Linux' }];
    const at = showInstant(startedAt, startedAt);
    const zone = showSecond(startedAt, startedAt).slice(at.length + 1);
    const seen = { hostName: 'h7', alive: false, lastSeenAt: startedAt };
    const explained = { ...about, seen, attributes, explanations, history };
    expect(renderExplanation(explained, startedAt).split('\n')).toEqual([
      'collector 7 web-7   build 19.441-2',
      `  host h7 · not alive · last heartbeat ${showSecond(startedAt, startedAt)} (0s ago)`,
      `  production  production-20260302-1, wave rest, pending: outside the window, until ${showInstant(until, startedAt)} ${zone}`,
      '              to 19.536-4, stratum Linux / amd64',
      '              held group fields.rack=r7',
      '              shares osName=Linux (5 of 5 there, 0 of 21 elsewhere) with all 5 failures',
      `              attempt 1: task 41, ${at} to ${at} ${zone}, retrying: no space`,
      `              attempt 2: no task, ${at} ${zone}, upgrading`,
      '  other       other-1, wave rest: withdrawn: held by alice',
      '  test        not selected',
      '              to 19.536-4',
      'attributes',
      '  osName=Linux',
      'history',
      `  production-9  back 19.1-1 → 19.2-2  succeeded ${at} ${zone}: alive`,
      '  production-8  19.1-1 → 19.2-2  rolled back',
    ]);
  });

  it('lets no foreign text control the terminal', () => {
    const hostile = { ...about, collectorName: `web${clearScreen}`, build: '' };
    const text = renderExplanation(
      { ...hostile, seen: null, attributes: [], explanations: [], history: [] },
      startedAt,
    );
    expect(text).toBe('collector 7 web\\u001b[2J   build unknown');
  });
});

describe('the rollout that a start would begin', () => {
  const preview = {
    policy: 'production',
    planHash: '03fcba26',
    targetBuild: '19.455-2',
    planned: 854,
    waves: ['canary', 'early', 'rest'].map((name) => ({
      name,
      size: 86,
      soakMs: name === 'rest' ? 0 : 1_800_000,
    })),
    leftOut: [
      { kind: 'excluded', reason: 'excluded', count: 72 },
      { kind: 'newer', reason: 'runs a newer build, and downgrades are not allowed', count: 14 },
      { kind: 'notAlive', reason: 'not alive', count: 63 },
    ],
    concurrency: 50,
    estimate: { durationMs: 7_980_000, plusMinusMs: 1_800_000, requests: 1_200 },
    failedBefore: 0,
    expectedFailures: null,
    earlier: null,
    approval: true,
    window: { isOpen: true, until: null, reason: '' },
  } as const satisfies StartPreview;

  it('fits the terminal, and wraps below the text', () => {
    expect(renderPreview(preview, startedAt, 80).split('\n')).toEqual([
      'production: plan 03fcba26: 854 collectors to 19.455-2 (canary 86, early 86, rest',
      '            86)',
      'limits    50 at a time; soak canary 30m, early 30m',
      'takes     about 2h13m (±30m) and 1,200 requests, without the wait for approval',
      'left out  excluded: 72 · runs a newer build, and downgrades are not allowed: 14',
      '          · not alive: 63',
      'approval  the plan then waits for `upwave approve`',
    ]);
  });

  it('shows that the policy gave this build up before', () => {
    const reason = 'by alice: CHG-9 back now';
    const earlier = { rollout: 'production-20260302-1', state: 'rolledBack', reason, at: startedAt } as const;
    const [, , , line] = renderPreview({ ...preview, earlier }, startedAt).split('\n');
    expect(line).toBe(
      `earlier   ${showZoned(startedAt, startedAt)}, production-20260302-1 to this build was rolled back ${reason}`,
    );
  });

  it('says how many collectors failed before on this build', () => {
    const [, , , line] = renderPreview({ ...preview, failedBefore: 3 }, startedAt).split('\n');
    expect(line).toBe('retried   3 of 854 collectors failed before on this build, and are retried');
  });

  it('says how many failures are expected, and where they are too many', () => {
    const canary = { name: 'canary', failures: 3, allowed: 2 };
    const riskiest = [{ label: 'Windows', tried: 28, failed: 12, isTriedFirst: false }];
    const expectedFailures = { tried: 4_210, failures: 14, waves: [canary], riskiest };
    expect(
      renderPreview({ ...preview, expectedFailures }, startedAt)
        .split('\n')
        .slice(3, 6),
    ).toEqual([
      'expected  About 14 of 854 collectors are expected to fail, judging by 4,210 upgrades in ended rollouts.',
      'expected  Wave canary is expected to exceed its limit: about 3 failures, 2 allowed.',
      'expected  Wave canary leaves out Windows, where 12 of 28 failed before.',
    ]);
  });

  it('has one line for each fact without a terminal', () => {
    expect(renderPreview(preview, startedAt).split('\n')).toHaveLength(5);
  });

  it('says that it does not fit its windows', () => {
    const estimate = { ...preview.estimate, durationMs: null };
    expect(renderPreview({ ...preview, estimate }, startedAt)).toContain(
      'takes     about 1,200 requests, and does not fit its windows',
    );
  });
});
