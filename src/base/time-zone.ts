import { Temporal } from 'temporal-polyfill';
import type { DurationMs, EpochMs } from './time.ts';

/** The time on a wall clock: milliseconds since 1970-01-01T00:00 on that clock, as if every day had 24 hours. */
export type LocalMs = number;

/** A day on a wall clock, counted from 1970-01-01. */
export type LocalDay = number;

/** The wall clock of one IANA time zone. */
export interface TimeZone {
  readonly name: string;
  /** The time on the clock at an instant. */
  localOf(at: EpochMs): LocalMs;
  /**
   * The first instant at which the clock shows this time or a later one (DESIGN §4, Windows). So a time that does not exist
   * becomes the next one that does (02:30 in a gap from 02:00 to 03:00 is 03:00), and one that occurs twice is the first.
   */
  instantOf(local: LocalMs): EpochMs;
}

export const dayMs: DurationMs = 86_400_000;

/** UTC needs no time zone data, so it is the fallback for unknown names. */
export const utc: TimeZone = { name: 'UTC', localOf: (at) => at, instantOf: (local) => local };

/** The zone of an IANA name, ignoring case; undefined for an empty or unknown name, and for offsets such as `+01:00`. */
export function findTimeZone(name: string): TimeZone | undefined {
  const known = knownZones.get(name);
  if (known !== undefined) return known.zone;
  if (knownZones.size >= knownZonesMax) knownZones.clear();
  const zone = isTimeZone(name) ? makeTimeZone(name) : undefined;
  knownZones.set(name, { zone });
  return zone;
}

/** True for the IANA names that this runtime knows. Offsets are refused: they follow no daylight saving. */
export function isTimeZone(name: string): boolean {
  // The library also accepts a whole date that contains a zone.
  if (!/^[A-Za-z][\w+/-]*$/.test(name)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The day of the week: 1 is Monday, 7 is Sunday. */
export function weekdayOf(day: LocalDay): number {
  // 1970-01-01 was a Thursday, the fourth; the inner remainder keeps days before it positive.
  return ((((day + 3) % 7) + 7) % 7) + 1;
}

// A cache of pure functions: creating a zone takes up to a millisecond, and a decision needs dozens. There are about
// 600 names, but collectors may send any text.
const knownZonesMax = 1_000;
const knownZones = new Map<string, { readonly zone: TimeZone | undefined }>();

// 400 days have two changes in most zones, and four where the clock changes for Ramadan.
const stretchesMax = 12;

/** Instants `[from, to)` in which the clock has one offset from UTC. */
interface OffsetStretch {
  readonly from: EpochMs;
  readonly to: EpochMs;
  readonly offsetMs: DurationMs;
}

function makeTimeZone(name: string): TimeZone {
  let stretches: OffsetStretch[] = [];

  function stretchAt(at: EpochMs): OffsetStretch {
    const known = stretches.find(({ from, to }) => from <= at && at < to);
    if (known !== undefined) return known;
    const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(name);
    // It begins at the requested instant, because finding the real beginning is slow where the clock never changes.
    const stretch = {
      from: at,
      to: zoned.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
      offsetMs: zoned.offsetNanoseconds / 1_000_000,
    };
    // A known period with the same end is covered by this one.
    const others = stretches.length < stretchesMax ? stretches.filter(({ to }) => to !== stretch.to) : [];
    stretches = [...others, stretch];
    return stretch;
  }

  return {
    name,
    localOf: (at) => at + stretchAt(at).offsetMs,
    instantOf: (local) => {
      // No clock is a whole day ahead of UTC, so none shows this time earlier.
      let since = local - dayMs;
      let stretch = stretchAt(since);
      while (local - stretch.offsetMs >= stretch.to) {
        since = stretch.to;
        stretch = stretchAt(since);
      }
      return Math.max(since, local - stretch.offsetMs);
    },
  };
}
