import { z } from 'zod';
import { nearestText } from '../../base/names.ts';
import { isTimeZone } from '../../base/time-zone.ts';
import { collectorZone } from '../../rollout/model/policy.ts';
import { quote } from '../source/config-error.ts';
import { wholeCheck } from './value-schemas.ts';

/** An IANA time zone. */
export const TimeZoneSchema = zoneBeside([]);

/** The time zone of a window or freeze: an IANA one, or `collector` for each collector's own. */
const CalendarZoneSchema = zoneBeside([collectorZone]);

/** @param alsoKnown values allowed beside a zone */
function zoneBeside(alsoKnown: readonly string[]) {
  return z.string().superRefine((text, context) => {
    if (alsoKnown.includes(text) || isTimeZone(text)) return;
    const nearest = nearestText(text, [...alsoKnown, ...Intl.supportedValuesOf('timeZone')]);
    const examples = ['Europe/Berlin', ...alsoKnown].join(', or ');
    const hint = nearest === undefined ? `write one such as ${examples}` : `did you mean ${quote(nearest)}?`;
    context.addIssue(`${quote(text)} is not an IANA time zone; ${hint}`);
  });
}

/** In the order of their numbers in a rule, from 1. */
export const weekDays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

const WeekDay = z.enum(weekDays);

const WeekDays = z
  // The list comes first: the other branch would report a list as a wrong day.
  .union([z.array(WeekDay).min(1, 'is an empty list; name the days, or remove the key for all'), WeekDay])
  .prefault([...weekDays])
  .transform((days) => {
    const named = new Set([days].flat());
    return weekDays.flatMap((day, index) => (named.has(day) ? [index + 1] : []));
  })
  .describe('The days on which the window opens: mon to sun. The default is all days.');

/** A time of day as minutes since midnight. @param latest the last valid one, as a text */
export function timeOfDay(latest: '23:59' | '24:00') {
  return z
    .string({
      error: (issue) =>
        typeof issue.input === 'number'
          ? 'must be a time of day; put the time in quotes, such as "22:00"'
          : undefined,
    })
    .transform((text, context): number => {
      const [, hours, minutes] = /^([01]\d|2[0-4]):([0-5]\d)$/.exec(text.trim()) ?? [];
      const minute = Number(hours) * 60 + Number(minutes);
      if (Number.isNaN(minute) || minute > 1440) {
        context.addIssue(`${quote(text)} is not a time of day; write hours and minutes, such as "05:00"`);
        return z.NEVER;
      }
      if (minute === 1440 && latest !== '24:00')
        context.addIssue('"24:00" is only for the end; a window opens at "00:00" of the next day');
      return minute;
    })
    .meta({
      pattern: latest === '24:00' ? '^(([01]\\d|2[0-3]):[0-5]\\d|24:00)$' : '^([01]\\d|2[0-3]):[0-5]\\d$',
      examples: ['22:00', '05:00'],
    });
}

const Window = z
  .strictObject({
    days: WeekDays,
    from: timeOfDay('23:59').describe('When the window opens, in local time, such as "22:00".'),
    to: timeOfDay('24:00').describe(
      'When the window closes. A time before from is on the next day. The same time as from is a day later.',
    ),
    timeZone: CalendarZoneSchema.exactOptional().describe(
      'The IANA time zone of from and to, or collector for the zone of each collector. The default is the zone of the policy.',
    ),
  })
  .transform(({ days, from, to, ...zone }) => ({ days, fromMinute: from, toMinute: to, ...zone }))
  .describe('A time in which upgrades may start, if they are expected to end in it too.');

/** A window that may have no zone yet. */
export type ReadWindow = z.output<typeof Window>;

/** The windows of a wave, instead of the policy's. */
export const WaveWindowsSchema = z
  .array(Window)
  .max(100)
  .describe("Windows instead of the policy's, while the wave is open. An empty list allows any time.");

/** The maintenance windows (P7). A window without a time zone has the policy's. */
export const WindowsSchema = z
  .array(Window)
  .max(100)
  .prefault([])
  .describe('Maintenance windows in which upgrades may start. Without windows upgrades may always start.');

/** A date, or a date with a time of day; in the code `2026-12-20T00:00`. */
export const LocalTime = z
  .string({
    error: (issue) =>
      issue.input === undefined ? undefined : 'must be a date; put it in quotes, such as "2026-12-20"',
  })
  .transform((text, context): string => {
    const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d))?$/.exec(text.trim());
    if (match === null) {
      context.addIssue(`${quote(text)} is not a date; write one such as 2026-12-20, or 2026-12-20T18:00`);
      return z.NEVER;
    }
    const localTime = `${match[1]}T${match[2] ?? '00:00'}`;
    if (!isInCalendar(localTime)) context.addIssue(`${quote(text)} is not in the calendar`);
    return localTime;
  })
  .meta({
    pattern: '^\\d{4}-\\d\\d-\\d\\d([T ]\\d\\d:\\d\\d)?$',
    examples: ['2026-12-20', '2026-12-20T18:00'],
  });

/** `Date` turns a day that a month lacks into one of the next month, so the result is compared with the input. */
function isInCalendar(localTime: string): boolean {
  const date = new Date(`${localTime}Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(localTime);
}

const Freeze = z
  .strictObject({
    from: LocalTime.describe('When the freeze starts, in local time: 2026-12-20 or 2026-12-20T18:00.'),
    to: LocalTime.describe('When the freeze ends. Upgrades may start again from this day or time on.'),
    reason: z
      .string()
      .trim()
      .max(200)
      .default('')
      .describe('Why upgrades freeze. upwave shows it where an upgrade waits.'),
    timeZone: CalendarZoneSchema.exactOptional().describe(
      'The IANA time zone of from and to, or collector for the zone of each collector. The default is the zone of the policy.',
    ),
  })
  .check(
    wholeCheck(({ from, to }, report) => {
      if (typeof from === 'string' && typeof to === 'string' && to <= from)
        report('must be after from; the freeze ends where the day or instant of to begins', ['to']);
    }),
  )
  .describe('A time in which no upgrade starts, window or not.');

/** The freezes (P7). A freeze without a time zone has the policy's. */
export const FreezesSchema = z
  .array(Freeze)
  .max(1_000)
  .prefault([])
  .describe('Times in which no upgrade starts, such as holidays.');
