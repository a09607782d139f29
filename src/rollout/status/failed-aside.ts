import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { WaveStatus } from '../../contract/admin/status-parts.ts';

/** Upgrades that count as failures. */
export function failedOf({ counts }: Pick<WaveStatus, 'counts'>): number {
  return counts.failed + counts.timedOut + counts.unconfirmed;
}

/** Failures of held strata: shown as failed, but not counted by the wave's failure budget. */
export function failedAside(
  { strata, lostWeight }: Pick<RolloutStatus, 'strata' | 'lostWeight'>,
  wave: WaveStatus,
): number {
  if (strata.held.length === 0) return 0;
  const counted = wave.failures + wave.acknowledged - wave.lost * (lostWeight - 1);
  return Math.max(0, Math.round(failedOf(wave) - counted));
}
