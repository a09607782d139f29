import { describe, expect, it } from 'vitest';
import { renderExplanation } from '../../../../src/cli/rollouts/explain-command.ts';
import { renderHolds } from '../../../../src/cli/rollouts/holds-commands.ts';
import { showInstant, showInstantIn } from '../../../../src/cli/shell/show-instant.ts';
import { quoteArgument } from '../../../../src/rollout/status/command-for.ts';
import { startedAt } from '../../../support/builders.ts';
import { anExplanation } from '../../../support/fake-operations.ts';

const hour = 3_600_000;
const clearScreen = '\u001b[2J';

describe('an instant', () => {
  // 2026-03-02T21:00Z is 22:00 in Berlin.
  it('has no date where it is today by the clock of its zone', () => {
    expect(showInstantIn('Europe/Berlin', startedAt + hour, startedAt)).toBe('23:00');
    expect(showInstantIn('Europe/Berlin', startedAt + 2 * hour, startedAt)).toBe('2026-03-03 00:00');
    expect(showInstantIn('UTC', startedAt + 2 * hour, startedAt)).toBe('23:00');
    expect(showInstantIn('UTC', startedAt - 22 * hour, startedAt)).toBe('2026-03-01 23:00');
  });

  it("is shown by this machine's clock, to the second where it is today", () => {
    const at = new Date(2026, 5, 15, 12, 34, 56).getTime();
    expect(showInstant(at, at + 10 * hour)).toBe('12:34:56');
    expect(showInstant(at, at + 24 * hour)).toBe('2026-06-15 12:34');
    expect(showInstantIn('no/zone', at, at)).toBe('12:34');
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
  it('is told with who, when and why', () => {
    const word = { by: 'alice', reason: 'broken disk', at: startedAt };
    const held = {
      builds: [{ build: '19.455-2', ...word }],
      collectors: [
        { collectorId: 7, ...word, reason: '' },
        { collectorId: 8, name: 'web-8', ...word },
      ],
      strata: [
        {
          policy: 'production',
          label: `Linux ${clearScreen}`,
          rolloutId: 'production-1',
          isEnded: false,
          ...word,
        },
        { policy: 'test', label: 'Windows', rolloutId: 'test-1', isEnded: true, ...word },
      ],
    };
    const since = showInstant(startedAt, startedAt + 48 * hour);
    expect(renderHolds(held, startedAt + 48 * hour).split('\n')).toEqual([
      `build 19.455-2   by alice, since ${since}: broken disk`,
      `collector 7   by alice, since ${since}`,
      `collector 8 web-8   by alice, since ${since}: broken disk`,
      `stratum Linux \\u001b[2J of production (production-1)   by alice, since ${since}: broken disk`,
      `stratum Windows of test (test-1, ended)   by alice, since ${since}: broken disk`,
    ]);
  });

  it('is nothing', () => {
    expect(renderHolds({ builds: [], collectors: [], strata: [] }, startedAt)).toBe('nothing is held');
  });
});

describe('the explanation of a collector', () => {
  const about = { collectorId: 7, collectorName: 'web-7', build: '19.441-2' };

  it('says for each policy where it stands, why, and until when, and what it went through', () => {
    const until = startedAt + 50 * hour;
    const attempt = {
      taskId: '41',
      startedAt,
      endedAt: startedAt,
      state: 'retrying',
      reason: 'no space',
    } as const;
    const running = { taskId: null, startedAt, endedAt: null, state: 'upgrading', reason: '' } as const;
    const explanations = [
      anExplanation({ reason: 'outside the window', until, attempts: [attempt, running] }),
      anExplanation({
        policy: 'other',
        rollout: 'other-1',
        state: 'withdrawn',
        reason: 'withdrawn: held by alice',
        target: null,
        stratum: null,
      }),
      anExplanation({
        policy: 'test',
        rollout: null,
        wave: null,
        state: null,
        reason: 'not selected',
        stratum: null,
      }),
    ];
    const past = {
      policy: 'production',
      fromBuild: '19.1-1',
      toBuild: '19.2-2',
      at: startedAt,
      attempts: [],
    };
    const history = [
      { ...past, rollout: 'production-9', kind: 'rollback', state: 'succeeded', reason: 'alive' },
      { ...past, rollout: 'production-8', kind: 'upgrade', state: 'rolledBack', reason: '', at: null },
    ] as const;
    const at = showInstant(startedAt, startedAt);
    expect(renderExplanation({ ...about, explanations, history }, startedAt).split('\n')).toEqual([
      'collector 7 web-7   build 19.441-2',
      `  production  production-20260302-1, wave rest, pending: outside the window, until ${showInstant(until, startedAt)}`,
      '              to 19.536-4, stratum Linux / amd64',
      `              attempt 1: task 41, ${at} to ${at}, retrying: no space`,
      `              attempt 2: no task, ${at}, upgrading`,
      '  other       other-1, wave rest: withdrawn: held by alice',
      '  test        not selected',
      '              to 19.536-4',
      'history',
      `  production-9  back 19.1-1 → 19.2-2  succeeded ${at}: alive`,
      '  production-8  19.1-1 → 19.2-2  rolled back',
    ]);
  });

  it('lets nothing from outside move the terminal', () => {
    const collectorName = `web${clearScreen}`;
    const text = renderExplanation(
      { ...about, collectorName, build: '', explanations: [], history: [] },
      startedAt,
    );
    expect(text).toBe('collector 7 web\\u001b[2J   build unknown');
  });
});
