import type { DurationMs, EpochMs } from '../../base/time.ts';

/**
 * The service's clock, from its answers. One answer with a false `Date` (a cache, a backend with a wrong clock) must neither
 * declare a collector dead nor prove its return (P10). So a time counts only when it agrees with earlier answers: when it
 * lies on a line from our clock to the service's.
 */
export interface ServiceClock {
  /** null until answers agree on one. */
  readonly line: ClockLine | null;
  /** The latest consecutive answers off the line. */
  readonly doubted: ImplausibleReadings;
}

/** One answer: when its request left and when it arrived, by our clock, and the whole second of its `Date`. */
export interface TimeReading {
  readonly sentAt: EpochMs;
  readonly answeredAt: EpochMs;
  readonly dateAt: EpochMs;
}

interface ClockLine {
  /** 1, except for a simulated service that runs faster. */
  readonly rate: number;
  /** What the rate was measured from. */
  readonly first: TimeReading;
  readonly last: TimeReading;
}

interface ImplausibleReadings {
  /** The first of those in a row that lie on one line of rate 1, and how many they are. */
  readonly even: { readonly first: TimeReading; readonly count: number } | null;
  /** A few of the last ones, apart from each other. */
  readonly spaced: readonly TimeReading[];
}

export const unknownServiceClock: ServiceClock = { line: null, doubted: { even: null, spaced: [] } };

/**
 * How far a `Date` may lie off the line, by the service's clock: more than two machines with an own time server ever
 * differ from one answer to the next, and less than a heartbeat's period (collector-api.md §8).
 */
const jumpMaxMs: DurationMs = 10_000;

/** How far our clock and the service's may differ when the first answer comes: two clocks that agree prove each other. */
const firstDifferenceMaxMs: DurationMs = 2 * 60_000;

// A clock that was set, ours or the service's, keeps its offset. A cached answer differs by more after this time.
const evenCountMin = 5;
const evenSpanMs: DurationMs = 30_000;

// A faster simulated service shows its speed within a second: several answers on a steep line are no accident.
const spacedCount = 4;
const spacedByMs: DurationMs = 50;
const fastRateMin = 2;
const fastRateMax = 2_000;

// Two clocks drift apart by less than a second in this time.
const followAfterMs: DurationMs = 60_000;

/** The header has whole seconds, and its answer may be from any instant of its second. */
export const dateStepMs: DurationMs = 1_000;

/** @returns the clock after this answer, and the answer's time; null where the time proves nothing */
export function readServiceTime(
  clock: ServiceClock,
  reading: TimeReading,
): { readonly clock: ServiceClock; readonly serviceAt: EpochMs | null } {
  const { line } = clock;
  const accepted =
    line === null ? acceptFirst(reading) : isOnLine(line, reading) ? extend(line, reading) : null;
  if (accepted !== null)
    return { clock: { line: accepted, doubted: unknownServiceClock.doubted }, serviceAt: reading.dateAt };
  const doubted = doubt(clock.doubted, reading);
  const confirmed = confirm(doubted, reading);
  if (confirmed === null) return { clock: { line, doubted }, serviceAt: null };
  return { clock: { line: confirmed, doubted: unknownServiceClock.doubted }, serviceAt: reading.dateAt };
}

function acceptFirst(reading: TimeReading): ClockLine | null {
  const { sentAt, answeredAt, dateAt } = reading;
  const isNear =
    dateAt + dateStepMs >= sentAt - firstDifferenceMaxMs && dateAt <= answeredAt + firstDifferenceMaxMs;
  return isNear ? { rate: 1, first: reading, last: reading } : null;
}

/** Whether the answer's time lies where the line leads, for some instant between its request and its end. */
function isOnLine(line: ClockLine, { sentAt, answeredAt, dateAt }: TimeReading): boolean {
  const { rate, last } = line;
  const slackMs =
    jumpMaxMs + uncertaintyOf(last, rate) + rateError(line) * Math.abs(answeredAt - last.answeredAt);
  const earliest = last.dateAt + rate * (sentAt - last.answeredAt) - slackMs;
  const latest = last.dateAt + rate * (answeredAt - last.answeredAt) + slackMs;
  return dateAt >= earliest && dateAt <= latest;
}

/** How far the service's clock moved while the answer was running, and within its second. */
function uncertaintyOf({ sentAt, answeredAt }: TimeReading, rate: number): DurationMs {
  return rate * Math.abs(answeredAt - sentAt) + dateStepMs;
}

/** How wrong a measured rate may be; 1 was not measured. */
function rateError({ rate, first, last }: ClockLine): number {
  if (rate === 1) return 0;
  const spanMs = Math.max(1, last.answeredAt - first.answeredAt);
  return (uncertaintyOf(first, rate) + uncertaintyOf(last, rate)) / spanMs;
}

function extend(line: ClockLine, reading: TimeReading): ClockLine {
  if (line.rate === 1) {
    // Followed slowly: a clock that drifts with each answer soon leaves the line.
    const isOld = reading.answeredAt - line.last.answeredAt >= followAfterMs;
    return isOld ? { rate: 1, first: reading, last: reading } : line;
  }
  const measured = rateOf(line.first, reading);
  // An answer that overtook another one measures nothing.
  return reading.answeredAt <= line.last.answeredAt || measured === null
    ? line
    : { rate: measured, first: line.first, last: reading };
}

function rateOf(first: TimeReading, last: TimeReading): number | null {
  const spanMs = last.answeredAt - first.answeredAt;
  const rate = spanMs <= 0 ? 0 : (last.dateAt - first.dateAt) / spanMs;
  return rate >= fastRateMin && rate <= fastRateMax ? rate : null;
}

function doubt({ even, spaced }: ImplausibleReadings, reading: TimeReading): ImplausibleReadings {
  const isEven = even !== null && isOnLine({ rate: 1, first: even.first, last: even.first }, reading);
  const previous = spaced.at(-1);
  const isApart = previous === undefined || reading.answeredAt - previous.answeredAt >= spacedByMs;
  return {
    even: isEven ? { first: even.first, count: even.count + 1 } : { first: reading, count: 1 },
    spaced: isApart ? [...withoutMiddle(spaced), reading] : spaced,
  };
}

/** The first stays, so that the line grows until it is steep enough; one on which the others do not lie goes. */
function withoutMiddle(spaced: readonly TimeReading[]): readonly TimeReading[] {
  if (spaced.length < spacedCount) return spaced;
  const [first, , ...others] = spaced;
  return first === undefined || lineThrough(spaced) === 'crooked' ? spaced.slice(1) : [first, ...others];
}

function confirm({ even, spaced }: ImplausibleReadings, reading: TimeReading): ClockLine | null {
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

/** The line of a clock that runs faster; `flat` as long as it might as well be one of rate 1. */
function lineThrough(spaced: readonly TimeReading[]): ClockLine | 'crooked' | 'flat' {
  const [first, last] = [spaced[0], spaced.at(-1)];
  if (first === undefined || last === undefined) return 'flat';
  const rate = rateOf(first, last);
  if (rate === null) return 'crooked';
  if ((rate - 1) * (last.answeredAt - first.answeredAt) <= 2 * jumpMaxMs) return 'flat';
  const line = { rate, first, last };
  return spaced.every((each) => isBetween(line, each)) ? line : 'crooked';
}

/** As on the line, between two readings that hold its ends. */
function isBetween({ rate, first }: ClockLine, reading: TimeReading): boolean {
  const slackMs = uncertaintyOf(first, rate) + uncertaintyOf(reading, rate);
  const expected = first.dateAt + rate * (reading.answeredAt - first.answeredAt);
  return Math.abs(reading.dateAt - expected) <= slackMs;
}
