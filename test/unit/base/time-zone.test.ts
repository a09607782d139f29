import fc from 'fast-check';
import { DateTime } from 'luxon';
import { describe, expect, it } from 'vitest';
import {
  dayMs,
  findTimeZone,
  isTimeZone,
  type TimeZone,
  utc,
  weekdayOf,
} from '../../../src/base/time-zone.ts';

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Los_Angeles',
  'America/Sao_Paulo',
  'America/St_Johns',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Asia/Tokyo',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Sydney',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
];

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

function aZone(name: string): TimeZone {
  const zone = findTimeZone(name);
  if (zone === undefined) throw new Error(`no zone ${name}`);
  return zone;
}

const asLocal = (text: string) => Date.parse(`${text}Z`);
const iso = (at: number) => new Date(at).toISOString().replace(':00.000Z', 'Z');

describe('isTimeZone', () => {
  it.each([
    'UTC',
    'Etc/UTC',
    'Etc/GMT+5',
    'Europe/Berlin',
    'europe/berlin',
    'America/Argentina/Buenos_Aires',
    'EST5EDT',
  ])('takes %s', (name) => {
    expect(isTimeZone(name)).toBe(true);
    expect(findTimeZone(name)?.name).toBe(name);
  });

  it.each([
    '',
    ' ',
    'Foo/Bar',
    'collector',
    '+01:00',
    '-00:00',
    'Z',
    ' Europe/Berlin',
    '2020-01-01T00:00[Europe/Berlin]',
    'Etc/Unknown',
    'Europe/',
    'x'.repeat(10_000),
  ])('refuses "%.40s"', (name) => {
    expect(isTimeZone(name)).toBe(false);
    expect(findTimeZone(name)).toBeUndefined();
  });
});

describe('findTimeZone', () => {
  it('knows zones and wrong names again after more names than it keeps', () => {
    const before = aZone('Europe/Berlin').localOf(0);
    for (let n = 0; n < 2_500; n += 1) expect(findTimeZone(`Foo/Bar${n}`)).toBeUndefined();
    expect(aZone('Europe/Berlin').localOf(0)).toBe(before);
    expect(findTimeZone('Foo/Bar0')).toBeUndefined();
  });

  it('finds the same zone at the second time without a new look-up', () => {
    expect(findTimeZone('Asia/Tokyo')).toBe(findTimeZone('Asia/Tokyo'));
  });
});

describe('weekdayOf', () => {
  it.each([
    ['1970-01-01', 4],
    ['1969-12-31', 3],
    ['1969-12-28', 7],
    ['2026-03-02', 1],
    ['2026-03-08', 7],
    ['2028-02-29', 2],
  ])('%s is day %i of its week', (date, weekday) => {
    expect(weekdayOf(Date.parse(date) / dayMs)).toBe(weekday);
    expect(DateTime.fromISO(date, { zone: 'UTC' }).weekday).toBe(weekday);
  });
});

describe('TimeZone.instantOf', () => {
  it.each([
    ['an ordinary time', 'Europe/Berlin', '2026-06-01T12:00', '2026-06-01T10:00Z'],
    [
      'an ordinary time of the other half of the year',
      'Europe/Berlin',
      '2026-01-01T12:00',
      '2026-01-01T11:00Z',
    ],
    ['UTC', 'UTC', '2026-06-01T12:00', '2026-06-01T12:00Z'],
    ['half an hour in the offset', 'Asia/Kolkata', '2026-06-01T00:00', '2026-05-31T18:30Z'],
    ['the last minute before a gap', 'Europe/Berlin', '2026-03-29T01:59', '2026-03-29T00:59Z'],
    ['the beginning of a gap', 'Europe/Berlin', '2026-03-29T02:00', '2026-03-29T01:00Z'],
    ['the middle of a gap is its end', 'Europe/Berlin', '2026-03-29T02:30', '2026-03-29T01:00Z'],
    ['the end of a gap', 'Europe/Berlin', '2026-03-29T03:00', '2026-03-29T01:00Z'],
    ['after a gap', 'Europe/Berlin', '2026-03-29T03:01', '2026-03-29T01:01Z'],
    ['the last time that occurs once', 'Europe/Berlin', '2026-10-25T01:59', '2026-10-24T23:59Z'],
    ['the first that occurs twice', 'Europe/Berlin', '2026-10-25T02:00', '2026-10-25T00:00Z'],
    ['one that occurs twice is the first', 'Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30Z'],
    ['the first that occurs once again', 'Europe/Berlin', '2026-10-25T03:00', '2026-10-25T02:00Z'],
    ['a gap in New York', 'America/New_York', '2026-03-08T02:30', '2026-03-08T07:00Z'],
    ['twice in New York', 'America/New_York', '2026-11-01T01:30', '2026-11-01T05:30Z'],
    ['a gap in Sydney', 'Australia/Sydney', '2026-10-04T02:15', '2026-10-03T16:00Z'],
    ['twice in Sydney', 'Australia/Sydney', '2026-04-05T02:15', '2026-04-04T15:15Z'],
    ['a gap of half an hour', 'Australia/Lord_Howe', '2026-10-04T02:15', '2026-10-03T15:30Z'],
    ['half an hour that occurs twice', 'Australia/Lord_Howe', '2026-04-05T01:45', '2026-04-04T14:45Z'],
    ['after the half hour that occurs twice', 'Australia/Lord_Howe', '2026-04-05T02:00', '2026-04-04T15:30Z'],
    ['a midnight that does not exist', 'America/Sao_Paulo', '2018-11-04T00:00', '2018-11-04T03:00Z'],
    [
      'an hour before midnight that occurs twice',
      'America/Sao_Paulo',
      '2019-02-16T23:30',
      '2019-02-17T01:30Z',
    ],
    ['midnight after that hour', 'America/Sao_Paulo', '2019-02-17T00:00', '2019-02-17T03:00Z'],
    ['a midnight that does not exist, in Cairo', 'Africa/Cairo', '2026-04-24T00:00', '2026-04-23T22:00Z'],
    ['a day that does not exist', 'Pacific/Apia', '2011-12-30T12:00', '2011-12-30T10:00Z'],
    ['the day after it', 'Pacific/Apia', '2011-12-31T00:00', '2011-12-30T10:00Z'],
  ])('%s: %s %s', (_, name, local, expected) => {
    expect(iso(aZone(name).instantOf(asLocal(local)))).toBe(expected);
  });

  it('is the first instant at which the clock shows the time or a later one', () => {
    const around = fc.integer({
      min: Date.parse('2008-01-01') / minuteMs,
      max: Date.parse('2036-01-01') / minuteMs,
    });
    fc.assert(
      fc.property(fc.constantFrom(...zones), around, (name, localMinute) => {
        const zone = aZone(name);
        const local = localMinute * minuteMs;
        const at = zone.instantOf(local);
        expect(DateTime.fromMillis(at, { zone: name }).offset * minuteMs + at).toBeGreaterThanOrEqual(local);
        // No clock goes back by more than a day, nor by less than a quarter of an hour.
        for (let before = at - 1; before > at - 25 * hourMs; before -= 15 * minuteMs)
          expect(before + DateTime.fromMillis(before, { zone: name }).offset * minuteMs).toBeLessThan(local);
      }),
      { numRuns: 150 },
    );
  });
});

describe('TimeZone.localOf', () => {
  it('shows what the clock shows, in every zone, to the millisecond around each change', () => {
    for (const name of zones)
      for (let at = Date.parse('2010-12-15'); at < Date.parse('2029-01-01'); at += 5 * dayMs + 7 * hourMs)
        expect(aZone(name).localOf(at), `${name} ${iso(at)}`).toBe(
          at + DateTime.fromMillis(at, { zone: name }).offset * minuteMs,
        );
    const berlin = aZone('Europe/Berlin');
    const change = Date.parse('2026-03-29T01:00Z');
    expect(berlin.localOf(change - 1)).toBe(asLocal('2026-03-29T02:00') - 1);
    expect(berlin.localOf(change)).toBe(asLocal('2026-03-29T03:00'));
  });

  it('is right whatever was asked before', () => {
    const at = fc.integer({ min: Date.parse('2009-01-01'), max: Date.parse('2031-01-01') });
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.array(at, { minLength: 20, maxLength: 40 }),
        (name, instants) => {
          for (const each of instants)
            expect(aZone(name).localOf(each)).toBe(
              each + DateTime.fromMillis(each, { zone: name }).offset * minuteMs,
            );
        },
      ),
    );
  });
});

describe('utc', () => {
  it('shows the instant itself', () => {
    expect(utc.localOf(1_234_567)).toBe(1_234_567);
    expect(utc.instantOf(1_234_567)).toBe(1_234_567);
  });
});
