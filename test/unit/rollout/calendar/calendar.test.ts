import { describe, expect, it } from 'vitest';
import {
  assessCalendar,
  calendarOf,
  calendarOfWave,
  longestOpening,
  needsCollectorZone,
  openTimeFrom,
} from '../../../../src/rollout/calendar/calendar.ts';
import type { CalendarRules } from '../../../../src/rollout/calendar/open-stretches.ts';
import { closedText } from '../../../../src/rollout/messages/blockers.ts';
import type { FreezeRule, WindowRule } from '../../../../src/rollout/model/policy.ts';
import { noRollback } from '../../../../src/rollout/model/rollout.ts';
import { aPolicy, aRollout, aWave, aWaveRule } from '../../../support/builders.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** `fri 22:00-02:00`, `mon,tue 09:00-17:00 Asia/Tokyo`, `daily 00:00-24:00`; without a zone it is the collector's. */
function aWindow(text: string): WindowRule {
  const [days = '', times = '', timeZone = 'collector'] = text.split(' ');
  const [fromMinute = Number.NaN, toMinute = Number.NaN] = times.split('-').map((time) => {
    const [hours, minutes] = time.split(':').map(Number);
    return (hours ?? Number.NaN) * 60 + (minutes ?? Number.NaN);
  });
  const names = days === 'daily' ? weekdays : days.split(',');
  return { days: names.map((name) => weekdays.indexOf(name) + 1), fromMinute, toMinute, timeZone };
}

/** `2026-12-20T00:00/2027-01-04T00:00 holidays Europe/Berlin`; without a zone it is the collector's. */
function aFreeze(text: string): FreezeRule {
  const [times = '', reason = '', timeZone = 'collector'] = text.split(' ');
  const [from = '', to = ''] = times.split('/');
  return { from, to, reason, timeZone };
}

function aCalendar(
  windows: readonly string[],
  freezes: readonly string[] = [],
  timeZone = 'UTC',
): CalendarRules {
  return { windows: windows.map(aWindow), freezes: freezes.map(aFreeze), timeZone };
}

const iso = (at: number | null) =>
  at === null ? 'never' : new Date(at).toISOString().replace(':00.000Z', 'Z');

function statusAt(rules: CalendarRules, zone: string, at: number): string {
  const { isOpen, until } = assessCalendar(rules, zone, at);
  return `${isOpen ? 'open' : 'closed'} until ${iso(until)}`;
}

/**
 * Each case has a title, windows, freezes and the zone of the collector; below it stands the answer at some instants. That
 * local times are read as every clock shows them is held by the test of time zones.
 */
const table = `
an evening window; it opens at from and is closed at to | mon,tue,wed,thu,fri 20:00-23:00 | | Europe/Berlin
  2026-06-01T17:59:59.999Z closed until 2026-06-01T18:00Z
  2026-06-01T18:00Z open until 2026-06-01T21:00Z
  2026-06-01T20:59:59.999Z open until 2026-06-01T21:00Z
  2026-06-05T21:00Z closed until 2026-06-08T18:00Z
past midnight: the days are those on which it opens | fri 22:00-02:00 | | UTC
  2026-06-06T01:59Z open until 2026-06-06T02:00Z
  2026-06-06T02:00Z closed until 2026-06-12T22:00Z
  2026-06-05T01:00Z closed until 2026-06-05T22:00Z
from == to: a day long | sat 06:00-06:00 | | Asia/Tokyo
  2026-06-05T21:00Z open until 2026-06-06T21:00Z
  2026-06-06T21:00Z closed until 2026-06-12T21:00Z
adjoining windows are one | mon 20:00-24:00; tue 00:00-03:00; tue 03:00-05:00 | | UTC
  2026-06-01T20:00Z open until 2026-06-02T05:00Z
a window inside another one changes nothing | mon 08:00-20:00; mon 10:00-12:00 | | UTC
  2026-06-01T09:00Z open until 2026-06-01T20:00Z
windows of two zones are one, though a day apart by their clocks | mon 10:00-16:00 UTC; tue 00:30-02:00 Asia/Tokyo | | UTC
  2026-06-01T10:00Z open until 2026-06-01T17:00Z
a window that opens in the gap opens at its end | sun 02:30-04:00 | | Europe/Berlin
  2026-03-29T01:00Z open until 2026-03-29T02:00Z
  2026-03-29T02:00Z closed until 2026-04-05T00:30Z
a window that closes in the gap closes at its beginning | sun 01:00-02:30 | | America/New_York
  2026-03-08T06:00Z open until 2026-03-08T07:00Z
a window inside the gap is not there | sun 02:10-02:50 | | America/Los_Angeles
  2026-03-08T09:59Z closed until 2026-03-15T09:10Z
  2026-03-01T10:50Z closed until 2026-03-15T09:10Z
a window over the hour that occurs twice is an hour longer | sat 22:00-05:00 | | Europe/Berlin
  2026-10-24T20:00Z open until 2026-10-25T04:00Z
a window inside the hour that occurs twice is there once | sun 01:15-01:45 | | America/Los_Angeles
  2026-11-01T08:15Z open until 2026-11-01T08:45Z
  2026-11-01T09:15Z closed until 2026-11-08T09:15Z
a midnight that does not exist | sun 00:00-02:00 | | America/Sao_Paulo
  2018-11-04T03:00Z open until 2018-11-04T04:00Z
a day that does not exist | fri 08:00-16:00 | | Pacific/Apia
  2011-12-30T20:00Z closed until 2012-01-05T18:00Z
always, written as a window | daily 00:00-24:00 | | America/New_York
  2026-03-08T06:59Z open until never
no windows | |  |
  2026-06-01T00:00Z open until never
a freeze without windows | | 2026-06-10T00:00/2026-06-12T06:00 holidays | Europe/Berlin
  2026-06-09T21:59:59.999Z open until 2026-06-09T22:00Z
  2026-06-12T03:59:59.999Z closed until 2026-06-12T04:00Z
  2026-06-12T04:00Z open until never
a freeze cuts the end of a window | wed 20:00-02:00 | 2026-06-10T23:00/2026-06-12T00:00 audit | UTC
  2026-06-10T20:00Z open until 2026-06-10T23:00Z
  2026-06-10T23:00Z closed until 2026-06-17T20:00Z
freezes that adjoin or overlap are one | | 2026-06-12T00:00/2026-06-13T00:00 c; 2026-06-10T00:00/2026-06-12T00:00 a; 2026-06-11T00:00/2026-06-11T12:00 b | UTC
  2026-06-09T00:00Z open until 2026-06-10T00:00Z
  2026-06-11T18:00Z closed until 2026-06-13T00:00Z
a freeze over several windows | daily 22:00-02:00 | 2026-06-10T12:00/2026-06-15T23:00 a | Asia/Tokyo
  2026-06-10T00:00Z closed until 2026-06-15T14:00Z
a freeze that is over before it begins holds nothing | wed 08:00-20:00 | 2026-03-29T02:10/2026-03-29T02:50 a; 2026-06-10T12:00/2026-06-10T12:00 b | Europe/Berlin
  2026-06-10T08:00Z open until 2026-06-10T18:00Z
`;

const rows = table
  .trim()
  .split(/\n(?! )/)
  .flatMap((text) => {
    const [head = '', ...lines] = text.split('\n');
    const [title, windows = '', freezes = '', zone = ''] = head.split('|').map((part) => part.trim());
    const list = (part: string) => (part === '' ? [] : part.split('; '));
    const rules = aCalendar(list(windows), list(freezes));
    return lines.map((line) => {
      const [at = '', ...words] = line.trim().split(' ');
      return { title, at, words: words.join(' '), zone, rules };
    });
  });

describe('assessCalendar', () => {
  it.each(rows)('$title: at $at $words', ({ rules, zone, at, words }) => {
    expect(statusAt(rules, zone, Date.parse(at))).toBe(words);
  });

  it.each(['', 'Foo/Bar', '+02:00', 'collector'])(
    'uses the zone of the rules for a collector in "%s"',
    (zone) => {
      const rules = aCalendar(['mon 08:00-10:00'], ['2026-06-01T09:00/2026-06-02T00:00 a'], 'Asia/Tokyo');
      expect(statusAt(rules, zone, Date.parse('2026-05-31T23:00Z'))).toBe('open until 2026-06-01T00:00Z');
    },
  );

  it('uses the zone of the rules for a window in an unknown zone, and UTC when that is unknown too', () => {
    const at = Date.parse('2026-06-01T09:00Z');
    expect(statusAt(aCalendar(['mon 18:00-20:00 Foo/Bar'], [], 'Asia/Tokyo'), '', at)).toBe(
      'open until 2026-06-01T11:00Z',
    );
    expect(statusAt(aCalendar(['mon 08:00-10:00'], [], 'Foo/Bar'), '', at)).toBe(
      'open until 2026-06-01T10:00Z',
    );
  });

  it('shows why it is closed, and no reason while it is open', () => {
    const frozen = [
      '00:00/2026-06-10T10:00 holidays',
      '09:00/2026-06-10T12:00 audit',
      '18:00/2026-06-10T19:00',
    ];
    const rules = aCalendar(
      ['wed 08:00-20:00'],
      frozen.map((times) => `2026-06-10T${times}`),
    );
    const reasonAt = (time: string) => closedText(assessCalendar(rules, '', Date.parse(time)).closedBy);
    expect(reasonAt('2026-06-10T20:00Z')).toBe('outside the window');
    expect(reasonAt('2026-06-10T09:30Z')).toBe('frozen: holidays');
    expect(reasonAt('2026-06-10T10:00Z')).toBe('frozen: audit');
    expect(reasonAt('2026-06-10T12:00Z')).toBe('');
    expect(reasonAt('2026-06-10T18:30Z')).toBe('frozen');
  });

  it('shows that the next window begins in a freeze', () => {
    const rules = aCalendar(['daily 02:00-02:30'], ['2026-11-30T00:00/2026-12-02T00:00 board']);
    const reasonAt = (time: string) => closedText(assessCalendar(rules, '', Date.parse(time)).closedBy);
    expect(reasonAt('2026-11-29T20:00Z')).toBe(
      'outside the window; the next window begins in a freeze: board',
    );
    expect(reasonAt('2026-11-30T20:00Z')).toBe('frozen: board');
    expect(reasonAt('2026-12-02T00:30Z')).toBe('outside the window');
    expect(reasonAt('2026-11-28T20:00Z')).toBe('outside the window');
    const forGood = aCalendar(['daily 02:00-02:30'], ['2026-11-30T00:00/2030-12-02T00:00']);
    expect(assessCalendar(forGood, '', Date.parse('2026-11-29T20:00Z'))).toEqual({
      isOpen: false,
      until: null,
      closedBy: { kind: 'window', nextFreeze: '' },
    });
  });

  it('searches at most 400 days ahead', () => {
    const at = Date.parse('2026-01-01T00:00Z');
    const dateAfter = (days: number, minutes = 0) =>
      new Date(at + days * dayMs + minutes * minuteMs).toISOString().slice(0, 16);
    const frozenFrom = (from: string) => aCalendar([], [`${from}/2030-01-01T00:00 a`]);
    expect(statusAt(frozenFrom(dateAfter(400)), '', at)).toBe(`open until ${dateAfter(400)}Z`);
    expect(statusAt(frozenFrom(dateAfter(400, 1)), '', at)).toBe('open until never');
    const frozenUntil = (to: string, windows: string[] = []) =>
      aCalendar(windows, [`2025-12-01T00:00/${to} a`]);
    expect(statusAt(frozenUntil(dateAfter(400)), '', at)).toBe(`closed until ${dateAfter(400)}Z`);
    expect(statusAt(frozenUntil(dateAfter(400, 1)), '', at)).toBe('closed until never');
    expect(statusAt(frozenUntil(dateAfter(390), ['mon 08:00-09:00']), '', at)).toBe(
      'closed until 2027-02-01T08:00Z',
    );
    expect(statusAt(frozenUntil(dateAfter(500), ['mon 08:00-09:00']), '', at)).toBe('closed until never');
  });

  it('is closed for ever when its windows have no day', () => {
    const rules = { ...aCalendar([]), windows: [{ ...aWindow('mon 08:00-09:00'), days: [] }] };
    expect(statusAt(rules, '', Date.parse('2026-01-01T00:00Z'))).toBe('closed until never');
  });

  it('stays open over days that several zones cover only together', () => {
    const rules = aCalendar([
      'daily 00:00-13:00 UTC',
      'daily 12:00-22:00 Asia/Kolkata',
      'daily 16:00-24:00 UTC',
    ]);
    expect(statusAt(rules, '', Date.parse('2026-01-01T00:00Z'))).toBe('open until never');
  });
});

describe('the calendar of a wave', () => {
  const policy = { ...aCalendar(['daily 22:00-05:00 UTC'], [], 'Europe/Berlin'), name: 'p' };

  it('is closed before its notBefore, by the zone of the policy, and then by its own windows', () => {
    const rule = aWaveRule({ windows: [aWindow('daily 06:00-20:00 UTC')], notBefore: '2026-06-02T10:00' });
    const rules = calendarOfWave(policy, rule);
    const at = Date.parse('2026-06-02T06:30Z');
    expect(statusAt(rules, '', at)).toBe('closed until 2026-06-02T08:00Z');
    expect(assessCalendar(rules, '', at).closedBy).toEqual({ kind: 'notBefore' });
    expect(statusAt(rules, '', at + 2 * hourMs)).toBe('open until 2026-06-02T20:00Z');
  });

  it('is that of the policy without rules of its own, and always open with an empty list', () => {
    const noon = Date.parse('2026-06-02T12:00Z');
    expect(statusAt(calendarOfWave(policy, aWaveRule()), '', noon)).toBe('closed until 2026-06-02T22:00Z');
    expect(statusAt(calendarOfWave(policy, aWaveRule({ windows: [] })), '', noon)).toBe('open until never');
  });

  it('is that of the open wave in a rollout, and has no rules in a rollback that ignores them', () => {
    const waves = [
      aWaveRule({ name: 'a', windows: [] }),
      aWaveRule({ name: 'b', notBefore: '2026-06-02T10:00' }),
    ];
    const of = (changes: Parameters<typeof aRollout>[0]) =>
      calendarOf(aRollout({ policy: aPolicy({ waves, windows: policy.windows }), ...changes }));
    const passed = [aWave({ name: 'a', state: 'passed' }), aWave({ name: 'b' })];
    expect(of({ waves: [aWave({ name: 'a' }), aWave({ name: 'b', state: 'waiting' })] }).windows).toEqual([]);
    expect(of({ waves: passed })).toMatchObject({ windows: policy.windows, notBefore: '2026-06-02T10:00' });
    expect(of({ waves: passed, rollback: { ...noRollback, anyTime: true } })).toEqual({
      ...{ timeZone: 'UTC', windows: [], freezes: [] },
    });
  });
});

describe('needsCollectorZone', () => {
  const freeze = '2026-01-01T00:00/2026-01-02T00:00 a';
  it.each([
    ['no rules', [], [], false],
    ['rules in zones of their own', ['mon 08:00-09:00 UTC'], [`${freeze} UTC`], false],
    ['a window by the collector', ['mon 08:00-09:00 UTC', 'tue 08:00-09:00'], [], true],
    ['a freeze by the collector', ['mon 08:00-09:00 UTC'], [freeze], true],
  ])('answers for %s', (_what, windows, freezes, expected) => {
    expect(needsCollectorZone(aCalendar(windows, freezes))).toBe(expected);
  });
});

describe('openTimeFrom', () => {
  const from = Date.parse('2026-06-01T12:00Z');
  const openTime = (calendar: ReturnType<typeof aCalendar>, workMs: number, leastMs = 0) =>
    openTimeFrom(calendar, '', from, { workMs, leastMs });

  it('leaves out stretches in which nothing can start (P7)', () => {
    const windows = ['mon 20:00-20:03', 'tue 20:00-21:00'];
    const open = (leastMinutes: number) => openTime(aCalendar(windows), 60_000, leastMinutes * 60_000);
    expect(open(3)).toBe(Date.parse('2026-06-01T20:01Z'));
    expect(open(4)).toBe(Date.parse('2026-06-02T20:01Z'));
    expect(open(61)).toBeNull();
  });

  it('runs on without windows, and is the start itself when nothing remains', () => {
    expect(openTime(aCalendar(['mon 20:00-23:00']), 0)).toBe(from);
    expect(openTime(aCalendar([]), 12_345)).toBe(from + 12_345);
  });

  it('gives up after 400 days', () => {
    expect(openTime(aCalendar(['mon 20:00-23:00']), 2_000 * hourMs)).toBeNull();
    expect(openTime(aCalendar([]), 400 * dayMs)).toBe(from + 400 * dayMs);
    expect(openTime(aCalendar([]), 400 * dayMs + 1)).toBeNull();
    expect(openTime(aCalendar([], ['2026-01-01T00:00/2030-01-01T00:00 a']), 1)).toBeNull();
  });
});

describe('longestOpening', () => {
  const evening = 'mon 20:00-23:00';

  it.each([
    ['the longest of several windows', [evening, 'sat 20:00-02:00'], '', 6 * hourMs],
    ['adjoining ones together', ['mon 20:00-24:00', 'tue 00:00-05:00'], '', 9 * hourMs],
    ['an hour more in the night of the change', ['sat 22:00-05:00 Europe/Berlin'], '', 8 * hourMs],
    ['none without end', [], '', null],
    ['none without end, as a window', ['daily 00:00-24:00'], '', null],
    ['none without end, from a freeze on', [], '2026-05-01T00:00/2026-07-01T00:00 a', null],
    ['up to a freeze of years', [], '2026-06-02T12:00/2029-01-01T00:00 a', 24 * hourMs],
    ['all of 400 days, up to a freeze right then', [], '2027-07-06T12:00/2029-01-01T00:00 a', 400 * dayMs],
    ['none at all', [evening], '2026-05-01T00:00/2029-01-01T00:00 a', 0],
    ['what comes after a long freeze', [evening], '2026-05-01T00:00/2026-12-01T00:00 a', 3 * hourMs],
    ['what a last freeze leaves of the next', [evening], '2026-06-01T22:00/2029-01-01T00:00 a', 2 * hourMs],
    ['the rest of the open one', ['mon 08:00-16:00'], '2026-06-02T00:00/2029-01-01T00:00 a', 4 * hourMs],
  ] as const)('is %s', (_what, windows, freeze, expected) => {
    const rules = aCalendar(windows, freeze === '' ? [] : [freeze]);
    expect(longestOpening(rules, '', Date.parse('2026-06-01T12:00Z'))).toBe(expected);
  });
});
