import type { DurationMs, EpochMs } from '../base/time.ts';
import { awaitsApproval } from '../rollout/awaits-approval.ts';
import type { RolloutStatus } from '../rollout/status.ts';

/** Why nothing more happens in a rollout by itself, or not for a while. */
export type Rest =
  | { readonly kind: 'ended' }
  /** Held or paused, and nothing of it is on its way. */
  | { readonly kind: 'held' }
  | { readonly kind: 'awaitsApproval' }
  /** It belongs to another account, and this daemon leaves it alone. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'windowClosed'; readonly until: EpochMs };

// A window that opens so soon is waited for.
const shortWaitMs: DurationMs = 2 * 60_000;

/**
 * Whether a rollout is at rest, for who waits for its end; undefined while it is not. One that is rolled back rests when
 * its rollback does.
 * @param all what is on its way, rollbacks included
 */
export function restOf(status: RolloutStatus, all: readonly RolloutStatus[], now: EpochMs): Rest | undefined {
  if (status.endedAt !== null) return { kind: 'ended' };
  // Before what is on its way: nobody here watches that.
  if (status.account === 'another' || status.account === 'unclear') return { kind: 'foreign' };
  if (status.state === 'rollingBack') {
    const rollback = all.find(({ id }) => id === status.rollbackId);
    const rest = rollback === undefined ? undefined : restOf(rollback, all, now);
    // With its rollback it ends, too, a moment later.
    return rest?.kind === 'ended' ? undefined : rest;
  }
  const { counts } = status;
  if (counts.queued + counts.starting + counts.upgrading + counts.verifying > 0) return undefined;
  if (status.state === 'held' || status.state === 'paused') return { kind: 'held' };
  if (awaitsApproval(status)) return { kind: 'awaitsApproval' };
  const until = closedUntil(status, now);
  return until === undefined ? undefined : { kind: 'windowClosed', until };
}

/**
 * When the next window opens, while that is all that is waited for: a soak goes on in a closed window. A hold that ends
 * while the window is open is no window's, unless collectors have windows by zones of their own.
 */
function closedUntil({ state, window, holds, waves }: RolloutStatus, now: EpochMs): EpochMs | undefined {
  if (state !== 'running' || window === null) return undefined;
  if (waves.find((wave) => wave.state !== 'passed')?.state === 'soaking') return undefined;
  const ends = holds.flatMap(({ until }) => (until === null ? [] : [until]));
  if (ends.length === 0) return undefined;
  const until = Math.min(...ends);
  const isWindow = window.ownZones || !window.isOpen || (window.until !== null && until > window.until);
  return isWindow && until > now + shortWaitMs ? until : undefined;
}
