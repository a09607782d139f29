import type { DurationMs, EpochMs } from '../../base/time.ts';
import { collectorZone as ofCollector, type Policy, type WaveRule } from '../model/policy.ts';
import { openWaveOf, type Rollout } from '../model/rollout.ts';
import { type CalendarRules, freezeAt, horizonMs, notBeforeOf, openStretches } from './open-stretches.ts';

/**
 * When a rollout may start upgrades now: by its policy and its open wave, except for a rollback that an operator starts
 * with `--now`. A rollback by `onBreach` keeps windows and freezes, because only an operator can judge whether restarts
 * outside the window harm more than the build (P7).
 */
export function calendarOf(rollout: Pick<Rollout, 'policy' | 'rollback' | 'waves'>): CalendarRules {
  const { policy, rollback } = rollout;
  const { timeZone } = policy;
  if (rollback.anyTime) return { timeZone, windows: [], freezes: [] };
  return calendarOfWave(policy, policy.waves[openWaveOf(rollout)]);
}

/** When upgrades may start while this wave is open. */
export function calendarOfWave(
  { windows, freezes, timeZone }: Pick<Policy, 'windows' | 'freezes' | 'timeZone'>,
  wave: Pick<WaveRule, 'windows' | 'notBefore'> | undefined,
): CalendarRules {
  const notBefore = wave?.notBefore;
  return {
    timeZone,
    windows: wave?.windows ?? windows,
    freezes,
    ...(notBefore !== undefined && { notBefore }),
  };
}

/** The state of the calendar at an instant. */
export interface Opening {
  readonly isOpen: boolean;
  /** When the state changes next; null if not within 400 days. */
  readonly until: EpochMs | null;
  /** null while it is open. */
  readonly closedBy: ClosedBy | null;
}

/**
 * `window`: no window is open. `nextFreeze`: the reason of the freeze in which the next window begins.
 * `freeze`: with the reason of the config, which may be empty. `notBefore`: of the wave.
 */
export type ClosedBy =
  | { readonly kind: 'window'; readonly nextFreeze?: string }
  | { readonly kind: 'notBefore' }
  | { readonly kind: 'freeze'; readonly reason: string };

/**
 * Whether an upgrade of a collector in this zone may start at an instant, and how long that lasts (P7). Adjoining or
 * overlapping windows count as one. A freeze closes them.
 * @param collectorZone the collector's own zone; empty if it has none
 */
export function assessCalendar(rules: CalendarRules, collectorZone: string, at: EpochMs): Opening {
  const [next] = openStretches(rules, collectorZone, at);
  if (next !== undefined && next.from <= at)
    return { isOpen: true, until: withinHorizon(at, next.to), closedBy: null };
  return {
    isOpen: false,
    until: next === undefined ? null : withinHorizon(at, next.from),
    closedBy: closedBy(rules, collectorZone, at),
  };
}

/** Whether starts depend on the collectors' own zones. */
export function needsCollectorZone(
  rules: Pick<CalendarRules, 'windows' | 'freezes'> & { readonly waves?: readonly WaveRule[] },
): boolean {
  const ofWaves = (rules.waves ?? []).flatMap(({ windows = [] }) => windows);
  return [...rules.windows, ...ofWaves, ...rules.freezes].some(({ timeZone }) => timeZone === ofCollector);
}

/**
 * When so much open time has passed since `from`; null if not within 400 days.
 * @param options `leastMs`: a shorter stretch does not count, because nothing can start in it
 */
export function openTimeFrom(
  rules: CalendarRules,
  collectorZone: string,
  from: EpochMs,
  { workMs, leastMs }: { readonly workMs: DurationMs; readonly leastMs: DurationMs },
): EpochMs | null {
  if (workMs <= 0) return from;
  let leftMs = workMs;
  for (const stretch of openStretches(rules, collectorZone, from)) {
    if (stretch.from > from + horizonMs) return null;
    const openMs = stretch.to - stretch.from;
    if (openMs < leastMs) continue;
    if (leftMs <= openMs) return withinHorizon(from, stretch.from + leftMs);
    leftMs -= openMs;
  }
  return null;
}

/** The longest uninterrupted open time in the next 400 days; 0 if there is none; null if it has no end. */
export function longestOpening(rules: CalendarRules, collectorZone: string, at: EpochMs): DurationMs | null {
  let longestMs = 0;
  for (const { from, to } of openStretches(rules, collectorZone, at)) {
    if (from > at + horizonMs) break;
    if (to > at + horizonMs) return null;
    longestMs = Math.max(longestMs, to - from);
  }
  return longestMs;
}

function withinHorizon(at: EpochMs, then: EpochMs): EpochMs | null {
  return then <= at + horizonMs ? then : null;
}

function closedBy(rules: CalendarRules, collectorZone: string, at: EpochMs): ClosedBy {
  if (at < (notBeforeOf(rules) ?? at)) return { kind: 'notBefore' };
  const freeze = freezeAt(rules, collectorZone, at);
  if (freeze !== undefined) return { kind: 'freeze', reason: freeze.reason };
  const [window] = openStretches({ ...rules, freezes: [] }, collectorZone, at);
  const next = window === undefined ? undefined : freezeAt(rules, collectorZone, window.from);
  return { kind: 'window', ...(next && { nextFreeze: next.reason }) };
}
