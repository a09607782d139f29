import fc from 'fast-check';
import { DateTime } from 'luxon';
import { describe, expect, it } from 'vitest';
import { findTimeZone, isTimeZone, type TimeZone } from '../../../src/base/time-zone.ts';
import { lossless } from '../../support/lossless.ts';

const zones = [
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'America/Los_Angeles', 'America/Sao_Paulo'],
  ...['America/St_Johns', 'Africa/Cairo', 'Africa/Casablanca', 'Asia/Tokyo', 'Asia/Kolkata'],
  ...['Asia/Kathmandu', 'Australia/Sydney', 'Australia/Lord_Howe', 'Pacific/Apia'],
  ...['Pacific/Kiritimati', 'Pacific/Pago_Pago'],
];

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const aZone = (name: string): TimeZone => lossless(findTimeZone(name));

const asLocal = (text: string) => Date.parse(`${text}Z`);

describe('isTimeZone', () => {
  it.each([
    ...['UTC', 'Etc/UTC', 'Etc/GMT+5', 'Europe/Berlin', 'europe/berlin', 'EST5EDT'],
    'America/Argentina/Buenos_Aires',
  ])('takes %s', (name) => {
    expect(isTimeZone(name)).toBe(true);
    expect(findTimeZone(name)?.name).toBe(name);
  });

  it.each([
    ...['', ' ', 'Foo/Bar', 'collector', '+01:00', '-00:00', 'Z', ' Europe/Berlin', 'Etc/Unknown', 'Europe/'],
    ...['2020-01-01T00:00[Europe/Berlin]', 'x'.repeat(10_000)],
  ])('refuses "%.40s"', (name) => {
    expect(isTimeZone(name)).toBe(false);
    expect(findTimeZone(name)).toBeUndefined();
  });
});

describe('findTimeZone', () => {
  it('recognises zones and wrong names again after more names than it keeps', () => {
    const before = aZone('Europe/Berlin').localOf(0);
    for (let n = 0; n < 2_500; n += 1) expect(findTimeZone(`Foo/Bar${n}`)).toBeUndefined();
    expect(aZone('Europe/Berlin').localOf(0)).toBe(before);
    expect(findTimeZone('Foo/Bar0')).toBeUndefined();
  });

  it('finds the same zone the second time without a new look-up', () => {
    expect(findTimeZone('Asia/Tokyo')).toBe(findTimeZone('Asia/Tokyo'));
  });
});

describe('TimeZone.instantOf', () => {
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
      { numRuns: 60 },
    );
  });
});

describe('TimeZone.localOf', () => {
  it('changes to the millisecond when the clock does', () => {
    const berlin = aZone('Europe/Berlin');
    const change = Date.parse('2026-03-29T01:00Z');
    expect(berlin.localOf(change - 1)).toBe(asLocal('2026-03-29T02:00') - 1);
    expect(berlin.localOf(change)).toBe(asLocal('2026-03-29T03:00'));
  });

  it('shows the clock of each zone, whatever was requested before', () => {
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
