import type { EpochMs } from '../../base/time.ts';

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const time = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)';

// RFC 9110 §5.6.7: the current format, and two obsolete ones.
const forms = [
  new RegExp(`^[a-z]{3}, (?<day>\\d\\d) (?<month>[a-z]{3}) (?<year>\\d{4}) ${time} GMT$`, 'i'),
  new RegExp(`^[a-z]{6,9}, (?<day>\\d\\d)-(?<month>[a-z]{3})-(?<year>\\d\\d) ${time} GMT$`, 'i'),
  new RegExp(`^[a-z]{3} (?<month>[a-z]{3}) (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`, 'i'),
];

/**
 * Parses the date of an HTTP header. `Date.parse` accepts too much: `foo 3000` is the year 3000.
 * @param now gives the century of a two-digit year
 * @returns null when it is in none of the three formats, or there is no such instant
 */
export function parseHttpDate(text: string, now: EpochMs): EpochMs | null {
  for (const form of forms) {
    const parts = form.exec(text.trim())?.groups;
    if (parts !== undefined) return instantOf(parts, now);
  }
  return null;
}

function instantOf(parts: Readonly<Record<string, string>>, now: EpochMs): EpochMs | null {
  const { year = '', day, hour, minute, second } = parts;
  const month = months.indexOf((parts['month'] ?? '').toLowerCase());
  const fullYear = year.length === 2 ? nearestYear(Number(year), now) : Number(year);
  const date = Date.UTC(fullYear, month, Number(day));
  const isReal = new Date(date).getUTCMonth() === month && Number(hour) < 24 && Number(minute) < 60;
  // A leap second counts as the second after it, even in the next month.
  const at = date + Number(hour) * 3_600_000 + Number(minute) * 60_000 + Number(second) * 1_000;
  return month >= 0 && isReal && Number(second) <= 60 ? at : null;
}

/** RFC 9110 §5.6.7: a year more than 50 years ahead is in the past. */
function nearestYear(twoDigits: number, now: EpochMs): number {
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + twoDigits;
  return year > thisYear + 50 ? year - 100 : year;
}
