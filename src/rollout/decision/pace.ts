import { sumOf } from '../../base/grouping.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { PaceRule } from '../model/policy.ts';
import { openWaveOf, type Rollout, type RolloutView } from '../model/rollout.ts';
import type { Blocker } from './blocker.ts';

/** What the pace of a rollout allows now. */
export interface Pace {
  readonly startsNow: number;
  /** Why no more start. */
  readonly blocker: Extract<Blocker, { kind: 'pace' }>;
}

const hourMs: DurationMs = 3_600_000;

// So many starts as a minute brings may wait and leave together, from this pace on at least two. With one, the seconds from
// each admission to its create would be lost.
const savesTwoFrom = 30;

/**
 * What the pace allows now; undefined without one. No hour has more than `perHour` creates. Each of them uses up a share of
 * the hour when its intent is stored, by the clock of the store. Admitted collectors without an intent count as well.
 */
export function paceOf(view: RolloutView, now: EpochMs): Pace | undefined {
  const own = ruleOf(view.rollout);
  if (own === undefined) return undefined;
  const perHour = perHourAfter(own.rule, succeededOf(view, own.wave));
  const savedMax = savedStarts(perHour);
  const shareMs = shareOf(perHour);
  const queued = sumOf(view.waves, ({ counts }) => counts.queued);
  const startsNow = Math.max(0, Math.floor(savedMax - view.pacedForMs / shareMs) - queued);
  const nextInMs = view.pacedForMs - (savedMax - queued - startsNow - 1) * shareMs;
  const wave = own.wave === null ? null : (view.rollout.waves[own.wave]?.name ?? null);
  // Until the creates of the queued ones have left, it is not known when the next may start.
  const until = queued + startsNow >= savedMax ? null : now + Math.max(1, Math.ceil(nextInMs));
  return { startsNow, blocker: { kind: 'pace', perHour, wave, until } };
}

/** The share of the pace that each start uses up, for the action that admits. */
export function paceShareOf(view: RolloutView): { readonly paceMs?: DurationMs } {
  const own = ruleOf(view.rollout);
  return own === undefined ? {} : { paceMs: shareOf(perHourAfter(own.rule, succeededOf(view, own.wave))) };
}

/** The least time in which so many may start, after so many have succeeded. */
export function pacedMs(
  rule: PaceRule,
  { succeeded, starts }: { readonly succeeded: number; readonly starts: number },
): DurationMs {
  let [before, left, timeMs] = [succeeded, starts, 0];
  while (left > 0) {
    const perHour = perHourAfter(rule, before);
    const count = perHour >= rule.perHour ? left : Math.min(left, rule.after - (before % rule.after));
    timeMs += count * shareOf(perHour);
    before += count;
    left -= count;
  }
  return timeMs;
}

/** Starts in an hour after so many have succeeded. */
export function perHourAfter({ perHour, from, factor, after }: PaceRule, succeeded: number): number {
  return Math.min(perHour, Math.floor(from * factor ** Math.floor(succeeded / after)));
}

/** The rule of the open wave, else that of the policy. An operator's rollback outside windows has none. */
function ruleOf(rollout: Rollout): { readonly rule: PaceRule; readonly wave: number | null } | undefined {
  const { policy, rollback } = rollout;
  if (rollback.anyTime) return undefined;
  const wave = openWaveOf(rollout);
  const ofWave = policy.waves[wave]?.pace;
  if (ofWave !== undefined) return { rule: ofWave, wave };
  return policy.pace === undefined ? undefined : { rule: policy.pace, wave: null };
}

/** What counts for the ramp: in the wave whose pace it is, or in all. */
function succeededOf({ waves }: RolloutView, wave: number | null): number {
  return sumOf(wave === null ? waves : waves.slice(wave, wave + 1), ({ counts }) => counts.succeeded);
}

function savedStarts(perHour: number): number {
  return Math.max(perHour < savesTwoFrom ? 1 : 2, Math.ceil(perHour / 60));
}

/** Saved starts and those of an hour together are `perHour`. */
function shareOf(perHour: number): DurationMs {
  return Math.ceil(hourMs / (perHour - savedStarts(perHour) + 1));
}
