import type { DurationMs } from '../../base/time.ts';
import type { StopRolloutParts } from '../records/change-rollout.ts';
import { makeRecordBuilds, type RecordBuildsParts } from './record-builds.ts';

export type PackHistoryParts = Pick<StopRolloutParts, 'store' | 'clock' | 'sleep'> & RecordBuildsParts;

// Most rollbacks and retries come soon after the end. Their records are not packed yet.
const graceMs: DurationMs = 3_600_000;

const packEveryMs: DurationMs = 60_000;

// An operator who starts the next rollout soon after an end sees what that one showed.
const recordEveryMs: DurationMs = 5_000;

/**
 * Records what builds did in ended rollouts. Then it packs the records of rollouts that ended an hour ago or earlier, which
 * the history would otherwise keep in full for 90 days. Level-triggered: it packs the remaining records, may be interrupted
 * anywhere, and a new leader continues.
 */
export async function packHistory(
  parts: PackHistoryParts,
  isLeading: () => boolean,
  signal: AbortSignal,
): Promise<'done'> {
  const recordBuilds = makeRecordBuilds(parts);
  let packAt = parts.clock.now();
  while (!signal.aborted && isLeading()) {
    await recordBuilds(signal);
    const now = parts.clock.now();
    if (now >= packAt) {
      await parts.store.packEnded(parts.policies(), now - graceMs, signal);
      packAt = now + packEveryMs;
    }
    await parts.sleep(recordEveryMs, signal);
  }
  return 'done';
}
