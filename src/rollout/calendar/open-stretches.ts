import type { DurationMs, EpochMs } from '../../base/time.ts';
import { dayMs, findTimeZone, type TimeZone, utc, weekdayOf } from '../../base/time-zone.ts';
import {
  type FreezeRule,
  collectorZone as ofCollector,
  type Policy,
  type WindowRule,
} from '../model/policy.ts';

/**
 * When upgrades may start (P7): inside a window, outside all freezes. A collector without a known time zone uses the
 * policy's.
 */
export interface CalendarRules extends Pick<Policy, 'windows' | 'freezes' | 'timeZone'> {
  /** Closed until then, by local time in `timeZone`. */
  readonly notBefore?: string;
}

/** Instants `[from, to)`. */
export interface Stretch {
  readonly from: EpochMs;
  readonly to: EpochMs;
}

// Windows recur every week, and no freeze lasts longer than a year. Anything further away counts as never.
export const horizonMs: DurationMs = 400 * dayMs;

/** The open stretches from `at` on, in order, with adjoining ones merged. Lazy: computes only what the caller reads. */
export function* openStretches(rules: CalendarRules, collectorZone: string, at: EpochMs): Generator<Stretch> {
  const freezes = rules.freezes
    .map((rule) => frozenStretch(rule, zoneOf(rules, rule, collectorZone)))
    .filter(({ from, to }) => from < to)
    .sort((a, b) => a.from - b.from);
  const begin = Math.max(at, notBeforeOf(rules) ?? at);
  for (const { from, to } of windowStretches(rules, collectorZone, begin)) {
    let since = Math.max(from, begin);
    for (const freeze of freezes) {
      if (freeze.from >= to) break;
      if (freeze.from > since) yield { from: since, to: freeze.from };
      since = Math.max(since, freeze.to);
    }
    if (since < to) yield { from: since, to };
  }
}

/** The instant of `notBefore`. */
export function notBeforeOf({ notBefore, timeZone }: CalendarRules): EpochMs | undefined {
  return notBefore === undefined ? undefined : instantIn(findTimeZone(timeZone) ?? utc, notBefore);
}

/** The first freeze that applies at an instant. */
export function freezeAt(rules: CalendarRules, collectorZone: string, at: EpochMs): FreezeRule | undefined {
  return rules.freezes.find((rule) => {
    const { from, to } = frozenStretch(rule, zoneOf(rules, rule, collectorZone));
    return from <= at && at < to;
  });
}

const minuteMs = 60_000;

/**
 * The windows from `at` to the horizon, in order, with adjoining or overlapping ones merged. Some may have ended already,
 * and one inside a daylight-saving gap is empty.
 */
function* windowStretches(rules: CalendarRules, collectorZone: string, at: EpochMs): Generator<Stretch> {
  const windows = rules.windows.map((rule) => ({ rule, zone: zoneOf(rules, rule, collectorZone) }));
  if (windows.length === 0) {
    yield { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };
    return;
  }
  // A window lasts a day at most, so one of the previous day may still be open.
  const firstDay = Math.min(...windows.map(({ zone }) => Math.floor(zone.localOf(at) / dayMs) - 1));
  const lastDay = Math.floor((at + horizonMs) / dayMs) + 1;
  let waiting: Stretch[] = [];
  for (let day = firstDay; day <= lastDay; day += 1) {
    const weekday = weekdayOf(day);
    for (const { rule, zone } of windows)
      if (rule.days.includes(weekday)) waiting.push(windowStretch(rule, zone, day));
    waiting = joined(waiting);
    // No time zone is a whole day ahead of UTC, so windows of later days begin after this and can't adjoin earlier ones.
    const settled = day * dayMs;
    yield* waiting.filter(({ to }) => to < settled);
    waiting = waiting.filter(({ to }) => to >= settled);
  }
  yield* waiting;
}

function joined(stretches: readonly Stretch[]): Stretch[] {
  const result: Stretch[] = [];
  for (const stretch of stretches.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last !== undefined && stretch.from <= last.to)
      result[result.length - 1] = { from: last.from, to: Math.max(last.to, stretch.to) };
    else result.push(stretch);
  }
  return result;
}

function windowStretch({ fromMinute, toMinute }: WindowRule, zone: TimeZone, day: number): Stretch {
  const midnight = day * dayMs;
  const until = toMinute > fromMinute ? midnight : midnight + dayMs;
  return {
    from: zone.instantOf(midnight + fromMinute * minuteMs),
    to: zone.instantOf(until + toMinute * minuteMs),
  };
}

function frozenStretch({ from, to }: FreezeRule, zone: TimeZone): Stretch {
  return { from: instantIn(zone, from), to: instantIn(zone, to) };
}

function instantIn(zone: TimeZone, local: string): EpochMs {
  // `instantOf` takes local times as if they were UTC.
  return zone.instantOf(Date.parse(`${local}Z`));
}

function zoneOf(
  rules: CalendarRules,
  { timeZone }: WindowRule | FreezeRule,
  collectorZone: string,
): TimeZone {
  const name = timeZone === ofCollector ? collectorZone : timeZone;
  return findTimeZone(name) ?? findTimeZone(rules.timeZone) ?? utc;
}
