import type { EpochMs } from '../../base/time.ts';
import { type FailedState, formerEndOf, isFailed, type Upgrade } from '../model/upgrade.ts';

/** How the upgrade of a collector to the build ended, whatever a rollback did to it later. */
export interface EndOnBuild {
  readonly state: FailedState | 'succeeded';
  readonly at: EpochMs;
}

/**
 * The end of an upgrade that succeeded or failed; undefined for any other. That of a collector that was rolled back, or withdrawn
 * before a retry, is the end of its last attempt.
 */
export function endOnBuild(upgrade: Upgrade): EndOnBuild | undefined {
  const { progress } = upgrade;
  if (!('endedAt' in progress)) return undefined;
  const before = formerEndOf(upgrade);
  const state = before?.state ?? progress.state;
  if (state !== 'succeeded' && !isFailed(state)) return undefined;
  return { state, at: before?.at ?? progress.endedAt };
}
