import type { RolloutView } from '../model/rollout.ts';
import type { Action } from './decision.ts';
import { assessed, assessedAt, hasBegun, heldStrataOf } from './failure-limits.ts';
import { findOutlierCauses, findOutliers, mayFindCulprits } from './outlier-strata.ts';

/** What the failures so far ask for; undefined: nothing. */
export type Alarm =
  | { readonly kind: 'act'; readonly action: Extract<Action, { do: 'breach' | 'isolate' }> }
  /** Nothing may start until those that run have shown whether a few strata alone are to blame. */
  | { readonly kind: 'wait'; readonly reason: string };

/**
 * The breaker: any wave that has begun may trip, also one that has passed and whose late ones fail. When a few strata
 * explain the failures, they alone are held (DESIGN §4, Failures and Strata).
 */
export function raiseAlarm(view: RolloutView): Alarm | undefined {
  const tripped = findTripped(view);
  if (tripped === undefined) {
    const strata = findOutliers(view);
    return strata.length === 0 ? undefined : { kind: 'act', action: { do: 'isolate', strata } };
  }
  const trip = {
    triesEachStratum: view.rollout.policy.waves[tripped.wave]?.size.kind === 'perStratum',
    isWithinBoundsWithout: (strata: ReadonlySet<number>) => isWithinBounds(view, strata),
  };
  const culprits = findOutlierCauses(view, trip);
  if (culprits !== undefined) return { kind: 'act', action: { do: 'isolate', strata: culprits } };
  if (mayFindCulprits(view, trip)) {
    const reason = `${tripped.reason}: nothing starts until those on their way show whether the rest is well`;
    return { kind: 'wait', reason };
  }
  return { kind: 'act', action: tripped };
}

function findTripped(view: RolloutView): Extract<Action, { do: 'breach' }> | undefined {
  for (const [index, wave] of view.rollout.waves.entries()) {
    const assessment = hasBegun(wave) ? assessedAt(view, index)?.assessment : undefined;
    if (assessment?.tripped !== true) continue;
    const lost = view.waves[index]?.lost ?? 0;
    const allowed = `, allowed ${assessment.failuresAllowed}`;
    const words = failureLimitWords({ ...assessment, lost }, view.rollout.policy.lostWeight, allowed);
    const reason = `wave ${wave.name}: failures ${words}`;
    return { do: 'breach', wave: index, reason, holdsBuild: isCanary(view, index) };
  }
  return undefined;
}

/** A build that fails in the first of several waves is refused for every policy (DESIGN §4, Quarantine). */
export function isCanary(view: RolloutView, wave: number): boolean {
  return view.rollout.kind === 'upgrade' && wave === 0 && view.rollout.waves.length > 1;
}

function isWithinBounds(view: RolloutView, more: ReadonlySet<number>): boolean {
  const strata = new Set([...heldStrataOf(view), ...more]);
  return assessed(view, strata).every(({ wave, assessment }) => !hasBegun(wave) || !assessment.tripped);
}

interface Figures {
  readonly failures: number;
  readonly acknowledged: number;
  readonly lost: number;
}

/**
 * A wave's failures against its limit: `3 (1 lost x 3), allowed 2`, or `3, allowed 2, not counting 7 acknowledged`.
 * Which of the acknowledged ones were lost is not known, so the weight is explained only where there are none.
 */
export function failureLimitWords(
  { failures, acknowledged, lost }: Figures,
  lostWeight: number,
  allowed: string,
): string {
  if (acknowledged > 0) return `${failures}${allowed}, not counting ${acknowledged} acknowledged`;
  return lost === 0 ? `${failures}${allowed}` : `${failures} (${lost} lost x ${lostWeight})${allowed}`;
}
