import { z } from 'zod';
import { quote } from './config-error.ts';
import { CalendarZoneSchema } from './time-zone-schemas.ts';

/** In the order of their numbers in a rule, which count from 1. */
export const weekDays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

const WeekDay = z.enum(weekDays);

const WeekDays = z
  // The list stands first: of a list, the other branch would say that it is no day.
  .union([z.array(WeekDay).min(1, 'is an empty list; name the days, or remove the key for all'), WeekDay])
  .prefault([...weekDays])
  .transform((days) => {
    const named = new Set([days].flat());
    return weekDays.flatMap((day, index) => (named.has(day) ? [index + 1] : []));
  })
  .describe('On which days it opens: one or more of mon to sun. Default: all.');

/** A time of day as minutes since midnight. @param latest the last one that makes sense, as text too */
function timeOfDay(latest: '23:59' | '24:00') {
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
        context.addIssue(`${quote(text)} is no time of day; write hours and minutes, such as "05:00"`);
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
    from: timeOfDay('23:59').describe('When it opens, by local time: "22:00".'),
    to: timeOfDay('24:00').describe(
      'When it closes; not after from: on the next day, and the same as from: a whole day later.',
    ),
    timeZone: CalendarZoneSchema.exactOptional().describe(
      "The IANA time zone of from and to, or collector for each collector's own. Default: the policy's.",
    ),
  })
  .transform(({ days, from, to, ...zone }) => ({ days, fromMinute: from, toMinute: to, ...zone }))
  .describe('A time in which upgrades may start, if they are expected to end in it too.');

/** The maintenance windows (P7); one without a time zone has the policy's. */
export const WindowsSchema = z
  .array(Window)
  .max(100)
  .prefault([])
  .describe('Maintenance windows: when upgrades may start. Default: always.');
