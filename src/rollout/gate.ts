import { failuresAllowed } from './amount.ts';
import type { WaveRule } from './policy.ts';
import type { Wave, WaveSummary } from './rollout.ts';
import { isActive, type UpgradeState, upgradeStates } from './upgrade.ts';

/** How a wave stands against its gate. */
export interface WaveAssessment {
  /** Weighted failures, and how many it may have: more than that trips it. */
  readonly failures: number;
  readonly failuresAllowed: number;
  readonly tripped: boolean;
  readonly pending: number;
  readonly active: number;
  readonly deferred: number;
  readonly succeeded: number;
  /** Nothing of the wave waits for its turn or is on its way; deferred ones do not hold a wave up. */
  readonly settled: boolean;
  /** At least one collector proved the build; without that the gate has no data (P14). */
  readonly hasEvidence: boolean;
}

/**
 * Assesses a wave (DESIGN §4, Failures and Gate). The denominator is the wave's size when it opened; failures an
 * operator has acknowledged by resuming do not trip it again.
 */
export function assessWave(wave: Wave, rule: WaveRule, summary: WaveSummary): WaveAssessment {
  const allowed = failuresAllowed(rule.maxFailures, wave.size);
  const pending = summary.counts.pending;
  const active = countActive(summary);
  return {
    failures: summary.weight,
    failuresAllowed: allowed,
    tripped: summary.weight > tripAbove(wave, rule),
    pending,
    active,
    deferred: summary.counts.deferred,
    succeeded: summary.counts.succeeded,
    settled: pending === 0 && active === 0,
    hasEvidence: wave.size === 0 || summary.counts.succeeded > 0,
  };
}

/** The weighted failures beyond which a wave trips, at once and not at its end. */
export function tripAbove(wave: Wave, rule: WaveRule): number {
  return Math.max(failuresAllowed(rule.maxFailures, wave.size), wave.acknowledgedWeight);
}

function countActive(summary: WaveSummary): number {
  return upgradeStates.reduce((sum, state) => sum + (isActive(state) ? summary.counts[state] : 0), 0);
}

/** Counters of a wave nobody has entered. */
export function emptyCounts(): Record<UpgradeState, number> {
  const entries = upgradeStates.map((state) => [state, 0] as const);
  return Object.fromEntries(entries) as Record<UpgradeState, number>;
}
