import type { WaveFailures } from '../model/stop-cause.ts';
import { type AssessedView, type AssessedWave, assessWaves, hasBegun, heldStrataOf } from './assess.ts';
import type { Action } from './decision.ts';
import { findOutlierGroup } from './outlier-group.ts';
import { findOutlierCauses, findOutliers, mayFindOutliers } from './outlier-strata.ts';

/** The action that the failures so far require; undefined: none. */
export type Alarm =
  | { readonly kind: 'act'; readonly action: Extract<Action, { do: 'breach' | 'isolate' | 'isolateGroup' }> }
  /** Nothing may start until the running upgrades show whether only a few strata are the cause. */
  | { readonly kind: 'wait'; readonly failures: WaveFailures };

/**
 * Any started wave may breach its limit, even one that has passed and whose late joiners fail. When a few strata explain the
 * failures, only these are held (DESIGN §4, Failures and Strata).
 */
export function raiseAlarm(view: AssessedView): Alarm | undefined {
  // A group comes before its strata: it cuts across them, and they may continue without it.
  const shared = findOutlierGroup(view);
  if (shared !== undefined) return { kind: 'act', action: { do: 'isolateGroup', shared } };
  const breached = view.assessed.find(({ wave, assessment }) => hasBegun(wave) && assessment.breached);
  if (breached === undefined) {
    const strata = findOutliers(view);
    return strata.length === 0 ? undefined : { kind: 'act', action: { do: 'isolate', strata } };
  }
  const breach = {
    triesEachStratum: breached.rule.size.kind === 'perStratum',
    isWithinBoundsWithout: (strata: ReadonlySet<number>) => isWithinBounds(view, strata),
  };
  const outliers = findOutlierCauses(view, breach);
  if (outliers !== undefined) return { kind: 'act', action: { do: 'isolate', strata: outliers } };
  const failures = failuresOf(view, breached);
  if (mayFindOutliers(view, breach)) return { kind: 'wait', failures };
  const holdsBuild = isCanary(view, breached.index);
  return { kind: 'act', action: { do: 'breach', cause: { kind: 'failures', failures }, holdsBuild } };
}

/** The failures of a wave that count, against its limit. */
export function failuresOf({ rollout }: AssessedView, { wave, assessment }: AssessedWave): WaveFailures {
  const { failures, failuresAllowed, acknowledged, lost } = assessment;
  const { lostWeight } = rollout.policy;
  return { wave: wave.name, failures, failuresAllowed, acknowledged, lost, lostWeight };
}

/** A build that fails in the first of several waves is refused for every policy (DESIGN §4, Quarantine). */
export function isCanary({ rollout }: AssessedView, wave: number): boolean {
  return rollout.kind === 'upgrade' && wave === 0 && rollout.waves.length > 1;
}

function isWithinBounds(view: AssessedView, more: ReadonlySet<number>): boolean {
  const strata = new Set([...heldStrataOf(view), ...more]);
  return assessWaves(view, strata).every(({ wave, assessment }) => !hasBegun(wave) || !assessment.breached);
}
