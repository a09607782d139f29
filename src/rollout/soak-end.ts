import type { EpochMs } from '../base/time.ts';
import type { RolloutView } from './rollout.ts';

/** When the soak of a wave would end that settled now: it runs from the end of its last upgrade. */
export function soakEndIfBegun(view: RolloutView, index: number, now: EpochMs): EpochMs {
  const soakMs = view.rollout.policy.waves[index]?.soakMs ?? 0;
  return (view.waves[index]?.lastChangeAt ?? now) + soakMs;
}

/** When the soak of a wave ends: skipped, or later for those that came late; null when it has not begun. */
export function soakEndsAtOf(view: RolloutView, index: number): EpochMs | null {
  const wave = view.rollout.waves[index];
  if (wave === undefined || wave.soakEndsAt === null) return null;
  if (wave.soakSkippedAt !== null) return wave.soakSkippedAt;
  // A wave that has passed soaks no more, whoever joins it later.
  if (wave.state !== 'soaking') return wave.soakEndsAt;
  const soakMs = view.rollout.policy.waves[index]?.soakMs ?? 0;
  return Math.max(wave.soakEndsAt, (view.waves[index]?.lastChangeAt ?? 0) + soakMs);
}
