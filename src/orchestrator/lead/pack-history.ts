import type { DurationMs } from '../../base/time.ts';
import type { ChangeRolloutParts } from '../records/change-rollout.ts';

export type PackHistoryParts = Pick<ChangeRolloutParts, 'store' | 'clock' | 'sleep'> & {
  readonly policies: readonly string[];
};

// Whoever takes one back, or retries its failures, mostly does so soon; then its records need not be unpacked.
const graceMs: DurationMs = 3_600_000;

const checkEveryMs: DurationMs = 60_000;

/**
 * Packs the records of rollouts that were over an hour ago, which 90 days of history would else keep in full. Level-
 * triggered: it takes what is not packed yet, may be cut off anywhere, and a new leader continues it.
 */
export async function packHistory(
  parts: PackHistoryParts,
  isLeading: () => boolean,
  signal: AbortSignal,
): Promise<'done'> {
  while (!signal.aborted && isLeading()) {
    await parts.store.packEnded(parts.policies, parts.clock.now() - graceMs, signal);
    await parts.sleep(checkEveryMs, signal);
  }
  return 'done';
}
