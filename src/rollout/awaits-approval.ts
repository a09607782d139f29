import { isRolloutEnd } from './rollout.ts';
import type { RolloutStatus } from './status.ts';

/**
 * True while the rollout, or a wave of it, waits for an operator's `approve`. A wave that has its approval waits for
 * nothing any more, and opens with the next pass; one of a rollout that was stopped for good never opens.
 */
export function awaitsApproval({
  state,
  waves,
  endedAt,
}: Pick<RolloutStatus, 'state' | 'waves' | 'endedAt'>): boolean {
  if (state === 'awaitingApproval') return true;
  if (endedAt !== null || isRolloutEnd(state) || state === 'rollingBack') return false;
  return waves.some((wave) => wave.state === 'awaitingApproval' && wave.waits !== null);
}
