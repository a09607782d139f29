import type { DurationMs, EpochMs } from '../../base/time.ts';

/**
 * The service's clock, estimated from its answers. One answer with a wrong `Date` (a cache, a backend with a wrong clock)
 * must neither declare a collector dead nor verify its return (P10). So a time counts only if it agrees with earlier
 * answers: if it lies on a line that maps our clock to the service's.
 */
export interface ServiceClock {
  /** null until answers agree. */
  readonly line: ClockLine | null;
  /** The latest consecutive answers off the line. */
  readonly unconfirmed: UnconfirmedReadings;
}

/** One answer: when it was requested and when it arrived, by our clock, and the whole second of its `Date`. */
export interface TimeReading {
  readonly sentAt: EpochMs;
  readonly answeredAt: EpochMs;
  readonly dateAt: EpochMs;
}

interface ClockLine {
  /** 1, except for a simulated service that runs faster. */
  readonly rate: number;
  /** The rate was measured between these. */
  readonly first: TimeReading;
  readonly last: TimeReading;
}

interface UnconfirmedReadings {
  /** The first of consecutive readings on one line of rate 1, and their number. */
  readonly even: { readonly first: TimeReading; readonly count: number } | null;
  /** A few of the last readings, at least `spacedByMs` apart. */
  readonly spaced: readonly TimeReading[];
}

export const unknownServiceClock: ServiceClock = { line: null, unconfirmed: { even: null, spaced: [] } };

/**
 * How far a `Date` may be off the line, by the service's clock: more than two backends with time servers differ, and less
 * than the interval of heartbeats (collector-api.md §8).
 */
const jumpMaxMs: DurationMs = 10_000;

/** How far our clock and the service's may differ at the first answer. Two clocks that agree confirm each other. */
const firstDifferenceMaxMs: DurationMs = 2 * 60_000;

// After one of the clocks was set, the new offset is constant. The offset of cached answers grows during this time.
const evenCountMin = 5;
const evenSpanMs: DurationMs = 30_000;

// A faster simulated service is recognised by several answers on a steep line.
const spacedCount = 4;
const spacedByMs: DurationMs = 50;
/** By then it is further ahead than two answers can differ. */
export const fasterClockLeadMs: DurationMs = 2 * jumpMaxMs;
const fastRateMin = 2;
const fastRateMax = 2_000;

// Two clocks drift apart by less than a second in this time.
const followAfterMs: DurationMs = 60_000;

/** The header has whole seconds, so the answer may be from any instant of that second. */
export const dateStepMs: DurationMs = 1_000;

/** @returns the clock after this answer, and the answer's time; null if the time is not confirmed */
export function readServiceTime(
  clock: ServiceClock,
  reading: TimeReading,
): { readonly clock: ServiceClock; readonly serviceAt: EpochMs | null } {
  const { line } = clock;
  const accepted =
    line === null ? acceptFirst(reading) : isOnLine(line, reading) ? extend(line, reading) : null;
  if (accepted !== null)
    return {
      clock: { line: accepted, unconfirmed: unknownServiceClock.unconfirmed },
      serviceAt: reading.dateAt,
    };
  const unconfirmed = noteUnconfirmed(clock.unconfirmed, reading);
  const confirmed = confirm(unconfirmed, reading);
  if (confirmed === null) return { clock: { line, unconfirmed }, serviceAt: null };
  return {
    clock: { line: confirmed, unconfirmed: unknownServiceClock.unconfirmed },
    serviceAt: reading.dateAt,
  };
}

function acceptFirst(reading: TimeReading): ClockLine | null {
  const { sentAt, answeredAt, dateAt } = reading;
  const isNear =
    dateAt + dateStepMs >= sentAt - firstDifferenceMaxMs && dateAt <= answeredAt + firstDifferenceMaxMs;
  return isNear ? { rate: 1, first: reading, last: reading } : null;
}

/** Whether the answer's time is on the line, for some instant between request and arrival. */
function isOnLine(line: ClockLine, { sentAt, answeredAt, dateAt }: TimeReading): boolean {
  const { rate, last } = line;
  const slackMs =
    jumpMaxMs + uncertaintyOf(last, rate) + rateError(line) * Math.abs(answeredAt - last.answeredAt);
  const earliest = last.dateAt + rate * (sentAt - last.answeredAt) - slackMs;
  const latest = last.dateAt + rate * (answeredAt - last.answeredAt) + slackMs;
  return dateAt >= earliest && dateAt <= latest;
}

/** How far the service's clock moved during the request, plus the rounding to a second. */
function uncertaintyOf({ sentAt, answeredAt }: TimeReading, rate: number): DurationMs {
  return rate * Math.abs(answeredAt - sentAt) + dateStepMs;
}

/** The possible error of a measured rate. A rate of 1 is not measured. */
function rateError({ rate, first, last }: ClockLine): number {
  if (rate === 1) return 0;
  const spanMs = Math.max(1, last.answeredAt - first.answeredAt);
  return (uncertaintyOf(first, rate) + uncertaintyOf(last, rate)) / spanMs;
}

function extend(line: ClockLine, reading: TimeReading): ClockLine {
  if (line.rate === 1) {
    // Updated slowly, so that a clock which drifts with each answer leaves the line.
    const isOld = reading.answeredAt - line.last.answeredAt >= followAfterMs;
    return isOld ? { rate: 1, first: reading, last: reading } : line;
  }
  const measured = rateOf(line.first, reading);
  // Answers out of order can't be used to measure the rate.
  return reading.answeredAt <= line.last.answeredAt || measured === null
    ? line
    : { rate: measured, first: line.first, last: reading };
}

function rateOf(first: TimeReading, last: TimeReading): number | null {
  const spanMs = last.answeredAt - first.answeredAt;
  const rate = spanMs <= 0 ? 0 : (last.dateAt - first.dateAt) / spanMs;
  return rate >= fastRateMin && rate <= fastRateMax ? rate : null;
}

function noteUnconfirmed({ even, spaced }: UnconfirmedReadings, reading: TimeReading): UnconfirmedReadings {
  const isEven = even !== null && isOnLine({ rate: 1, first: even.first, last: even.first }, reading);
  const previous = spaced.at(-1);
  const isApart = previous === undefined || reading.answeredAt - previous.answeredAt >= spacedByMs;
  return {
    even: isEven ? { first: even.first, count: even.count + 1 } : { first: reading, count: 1 },
    spaced: isApart ? [...withoutMiddle(spaced), reading] : spaced,
  };
}

/** Keeps the first reading, so that the line gets longer, unless the others are not on its line. */
function withoutMiddle(spaced: readonly TimeReading[]): readonly TimeReading[] {
  if (spaced.length < spacedCount) return spaced;
  const [first, , ...others] = spaced;
  return first === undefined || lineThrough(spaced) === 'crooked' ? spaced.slice(1) : [first, ...others];
}

function confirm({ even, spaced }: UnconfirmedReadings, reading: TimeReading): ClockLine | null {
  if (
    even !== null &&
    even.count >= evenCountMin &&
    reading.answeredAt - even.first.answeredAt >= evenSpanMs
  ) {
    return { rate: 1, first: reading, last: reading };
  }
  if (spaced.length < spacedCount || spaced.at(-1) !== reading) return null;
  const line = lineThrough(spaced);
  return line === 'crooked' || line === 'flat' ? null : line;
}

/** The line of a clock that runs faster; `flat` if its rate may also be 1. */
function lineThrough(spaced: readonly TimeReading[]): ClockLine | 'crooked' | 'flat' {
  const [first, last] = [spaced[0], spaced.at(-1)];
  if (first === undefined || last === undefined) return 'flat';
  const rate = rateOf(first, last);
  if (rate === null) return 'crooked';
  if ((rate - 1) * (last.answeredAt - first.answeredAt) <= fasterClockLeadMs) return 'flat';
  const line = { rate, first, last };
  return spaced.every((each) => isBetween(line, each)) ? line : 'crooked';
}

/** Whether a reading is on the line, within the uncertainty of both readings. */
function isBetween({ rate, first }: ClockLine, reading: TimeReading): boolean {
  const slackMs = uncertaintyOf(first, rate) + uncertaintyOf(reading, rate);
  const expected = first.dateAt + rate * (reading.answeredAt - first.answeredAt);
  return Math.abs(reading.dateAt - expected) <= slackMs;
}
