import type { WaveStatus } from '../rollout/status.ts';
import { endStates } from '../rollout/upgrade.ts';

/** How many collectors of a wave have ended, well or not. */
export function endedOf({ counts }: Pick<WaveStatus, 'counts'>): number {
  return endStates.reduce((sum, state) => sum + counts[state], 0);
}
