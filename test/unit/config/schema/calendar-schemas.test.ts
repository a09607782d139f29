import { describe, expect, it } from 'vitest';
import { problemCases, problemsIn, readConfig, withRollout } from '../../../support/config-fixtures.ts';

const policyOf = (yaml: string) => readConfig(withRollout(yaml)).rollouts[0];
const problems = (yaml: string) => problemsIn(withRollout(yaml));
/** Without the place of the first window or freeze. */
const problemsWithin = (key: string, entry: string) =>
  problems(`${key}: [${entry}]`).map((line) =>
    line.replace('config.yaml:', '').replace(/rollouts\[0\]\.\w+\[0\]\.?/, ''),
  );
const everyDay = [1, 2, 3, 4, 5, 6, 7];

describe('windows', () => {
  it.each([
    ['from: 22:00, to: 05:00', { fromMinute: 1_320, toMinute: 300 }],
    ['from: "00:00", to: "24:00"', { fromMinute: 0, toMinute: 1_440 }],
    ['from: 09:30, to: 09:30', { fromMinute: 570, toMinute: 570 }],
    ['from: 23:59, to: 00:10', { fromMinute: 1_439, toMinute: 10 }],
  ])('read %s as minutes of the day, on all days, in the time zone of the policy', (times, read) => {
    expect(policyOf(`timeZone: Europe/Berlin\nwindows: [{ ${times} }]`)?.windows).toEqual([
      { days: everyDay, ...read, timeZone: 'Europe/Berlin' },
    ]);
  });

  it.each([
    ['mon', [1]],
    ['[sun]', [7]],
    ['[thu, tue, thu]', [2, 4]],
    ['[sat, fri, wed]', [3, 5, 6]],
  ])('read the days %s as %j', (days, read) => {
    expect(policyOf(`windows: [{ days: ${days}, from: 01:00, to: 02:00 }]`)?.windows[0]?.days).toEqual(read);
  });

  it.each(['collector', 'Asia/Tokyo'])('may have a time zone of their own: %s', (timeZone) => {
    const policy = policyOf(`windows: [{ from: 01:00, to: 02:00, timeZone: ${timeZone} }]`);
    expect(policy?.windows).toMatchObject([{ timeZone }]);
  });

  it.each(
    problemCases(`
{ from: 2200, to: 05:00 } → 4:23: from: must be a time of day; put the time in quotes, such as "22:00"
{ from: 01:00, to: 5 } → 4:34: to: must be a time of day; put the time in quotes, such as "22:00"
{ from: 5:00, to: 06:00 } → 4:23: from: "5:00" is not a time of day; write hours and minutes, such as "05:00"
{ from: 01:00, to: 24:01 } → 4:34: to: "24:01" is not a time of day; write hours and minutes, such as "05:00"
{ from: 24:00, to: 06:00 } → 4:23: from: "24:00" is only for the end; a window opens at "00:00" of the next day
{ from: 01:00 } → 4:15: to: is missing; it must be text
{ days: Mon, from: 01:00, to: 02:00 }
  → 4:23: days: must be one of "mon", "tue", "wed", "thu", "fri", "sat", "sun"; did you mean "mon"?
{ days: [mon, 2], from: 01:00, to: 02:00 }
  → 4:29: days[1]: must be one of "mon", "tue", "wed", "thu", "fri", "sat", "sun", not a number
{ days: [], from: 01:00, to: 02:00 } → 4:17: days: is an empty list; name the days, or remove the key for all
{ from: 01:00, to: 02:00, timeZone: Collector }
  → 4:51: timeZone: "Collector" is not an IANA time zone; did you mean "collector"?
{ from: 01:00, to: 02:00, timeZone: local }
  → 4:51: timeZone: "local" is not an IANA time zone; write one such as Europe/Berlin, or collector
`),
  )('refuse %s', (window, problem) => {
    expect(problemsWithin('windows', window)).toEqual([problem]);
  });

  it('ask for quotes where YAML 1.1, which the file may ask for, reads a time as a number', () => {
    const text = `%YAML 1.1\n---\n${withRollout('windows: [{ from: 22:00, to: "05:00" }]')}`;
    expect(problemsIn(text)).toEqual([
      'config.yaml:6:23: rollouts[0].windows[0].from: must be a time of day; put the time in quotes, such as "22:00"',
    ]);
  });

  it('leave the time zone of the schedule to real ones', () => {
    expect(problems('timeZone: collector')).toEqual([
      'config.yaml:4:15: rollouts[0].timeZone: "collector" is not an IANA time zone; write one such as Europe/Berlin',
    ]);
  });
});

describe('a window that is too short for an upgrade', () => {
  const tooShort =
    'rollouts[0].windows[0]: is open for 20m, shorter than upgrade.expect, 25m: no upgrade would ever start';
  const withExpect = (windows: string) => `upgrade: { expect: 25m }\nwindows: [${windows}]`;

  it.each([
    '{ from: 01:00, to: 01:20 }',
    '{ from: 23:50, to: 00:10 }',
    // Another one that is not next to it, not on a day next to it, or elsewhere in the world.
    '{ from: 01:00, to: 01:20 }, { from: 01:21, to: 02:00 }',
    '{ days: mon, from: 23:40, to: 24:00 }, { days: wed, from: 00:00, to: 02:00 }',
    '{ from: 01:00, to: 01:20 }, { from: 01:00, to: 02:00, timeZone: Asia/Tokyo }',
    '{ from: 01:00, to: 01:20 }, { from: 01:00, to: 02:00, timeZone: collector }',
  ])('is refused: %s', (windows) => {
    expect(problems(withExpect(windows))).toEqual([`config.yaml:5:15: ${tooShort}`]);
  });

  it('is refused once for each', () => {
    expect(problems(withExpect('{ from: 01:00, to: 01:20 }, { from: 01:00, to: 01:10 }'))).toHaveLength(2);
  });

  it.each([
    '{ from: 01:00, to: 01:25 }',
    '{ days: sun, from: 23:45, to: 00:10 }',
    '{ from: 01:00, to: 01:00 }',
    // With another one it is long enough.
    '{ from: 01:00, to: 01:20 }, { from: 01:20, to: 01:40 }',
    '{ days: mon, from: 23:40, to: 24:00 }, { days: tue, from: 00:00, to: 02:00 }',
    '{ days: sun, from: 23:40, to: 24:00 }, { days: mon, from: 00:00, to: 02:00 }',
    '{ from: 01:00, to: 01:20 }, { from: 01:20, to: 02:00, timeZone: UTC }',
  ])('is right when it is long enough, or with its neighbour: %s', (windows) => {
    expect(problems(withExpect(windows))).toEqual([]);
  });

  it('does not mean windows that are open all week', () => {
    const windows = 'windows: [{ from: 00:00, to: 24:00 }]';
    expect(problems(`upgrade: { deadline: 20d, expect: 10d }\n${windows}`)).toEqual([]);
  });

  it('is reported together with other mistakes', () => {
    expect(problems('windows: [{ from: 01:00, to: 01:02 }, 5]\nconcurrency: 0')).toHaveLength(3);
  });
});

describe('freezes', () => {
  it.each([
    ['2026-12-20', '2026-12-20T00:00'],
    ['"2026-12-20"', '2026-12-20T00:00'],
    ['2026-12-20T18:30', '2026-12-20T18:30'],
    ['2026-12-20 18:30', '2026-12-20T18:30'],
    ['2024-02-29', '2024-02-29T00:00'],
  ])('read %s as the local time %s', (from, read) => {
    expect(policyOf(`timeZone: Asia/Tokyo\nfreezes: [{ from: ${from}, to: 2030-01-01 }]`)?.freezes).toEqual([
      { from: read, to: '2030-01-01T00:00', reason: '', timeZone: 'Asia/Tokyo' },
    ]);
  });

  it('may have a reason and a time zone', () => {
    const said = 'reason: " holidays ", timeZone: collector';
    expect(policyOf(`freezes: [{ from: 2026-12-20, to: 2026-12-20T00:01, ${said} }]`)?.freezes).toEqual([
      { from: '2026-12-20T00:00', to: '2026-12-20T00:01', reason: 'holidays', timeZone: 'collector' },
    ]);
  });

  it.each(
    problemCases(`
{ from: 2026-02-30, to: 2026-12-20 } → 4:23: from: "2026-02-30" is not in the calendar
{ from: 2026-01-01, to: 2027-02-01T24:00 } → 4:39: to: "2027-02-01T24:00" is not in the calendar
{ from: 20.12.2026, to: 2027-01-04 }
  → 4:23: from: "20.12.2026" is not a date; write one such as 2026-12-20, or 2026-12-20T18:00
{ from: 2026-12-20T00:00Z, to: 2027-01-04 }
  → 4:23: from: "2026-12-20T00:00Z" is not a date; write one such as 2026-12-20, or 2026-12-20T18:00
{ from: 20261220, to: 2027-01-04 } → 4:23: from: must be a date; put it in quotes, such as "2026-12-20"
{ from: 2026-12-20, to: 2026-12-20 }
  → 4:39: to: must be after from; the freeze ends where the day or instant of to begins
{ from: 2026-12-20T10:00, to: 2026-12-20 09:59 }
  → 4:45: to: must be after from; the freeze ends where the day or instant of to begins
{ from: 2026-12-20 } → 4:15: to: is missing; it must be text
{ from: 2026-12-20, to: 2027-01-04, reason: 5 } → 4:59: reason: must be text, not a number; put it in quotes
`),
  )('refuse %s', (freeze, problem) => {
    expect(problemsWithin('freezes', freeze)).toEqual([problem]);
  });
});
