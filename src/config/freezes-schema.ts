import { z } from 'zod';
import { quote } from './config-error.ts';
import { CalendarZoneSchema } from './time-zone-schemas.ts';
import { wholeCheck } from './value-schemas.ts';

/** A date, or a date with a time of day; `2026-12-20T00:00` inside. */
const LocalTime = z
  .string({
    error: (issue) =>
      issue.input === undefined ? undefined : 'must be a date; put it in quotes, such as "2026-12-20"',
  })
  .transform((text, context): string => {
    const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d))?$/.exec(text.trim());
    if (match === null) {
      context.addIssue(`${quote(text)} is no date; write one such as 2026-12-20, or 2026-12-20T18:00`);
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

/** A day that a month lacks is taken for one of the next month, so what is read must be what was written. */
function isInCalendar(localTime: string): boolean {
  const date = new Date(`${localTime}Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(localTime);
}

const Freeze = z
  .strictObject({
    from: LocalTime.describe('When it begins, by local time: 2026-12-20, or 2026-12-20T18:00.'),
    to: LocalTime.describe('When it ends: upgrades may start again from this day or instant on.'),
    reason: z.string().trim().max(200).default('').describe('Why; shown where an upgrade waits for its end.'),
    timeZone: CalendarZoneSchema.exactOptional().describe(
      "The IANA time zone of from and to, or collector for each collector's own. Default: the policy's.",
    ),
  })
  .check(
    wholeCheck(({ from, to }, report) => {
      if (typeof from === 'string' && typeof to === 'string' && to <= from)
        report('must be after from; the freeze ends where the day or instant of to begins', ['to']);
    }),
  )
  .describe('A time in which no upgrade starts, window or not.');

/** When nothing may start (P7); one without a time zone has the policy's. */
export const FreezesSchema = z
  .array(Freeze)
  .max(1_000)
  .prefault([])
  .describe('Times in which no upgrade starts, such as holidays.');
