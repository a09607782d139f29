import type { RolloutStatus } from './status.ts';

/** True while the rollout, or a wave of it, waits for an operator's `approve`. */
export function awaitsApproval({ state, waves, endedAt }: RolloutStatus): boolean {
  if (state === 'awaitingApproval') return true;
  const waits = waves.some((wave) => wave.state === 'awaitingApproval' && wave.waits !== null);
  return endedAt === null && waits;
}
