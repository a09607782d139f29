import type { DurationMs, EpochMs } from '../../base/time.ts';
import { runningStates } from '../../rollout/model/upgrade.ts';
import { commandFor } from '../../rollout/status/command-for.ts';
import type { RolloutStatus } from '../../rollout/status/status.ts';
import { showInstant } from '../shell/show-instant.ts';

/** Why nothing more happens in a rollout by itself, or not for a while. */
export type Rest =
  | { readonly kind: 'ended' }
  /** Held or paused, and nothing of it is still running. */
  | { readonly kind: 'held' }
  | { readonly kind: 'awaitsApproval' }
  /** It belongs to another account, and this daemon leaves it alone. */
  | { readonly kind: 'foreign' }
  /** null: no window opens in a year. */
  | { readonly kind: 'windowClosed'; readonly until: EpochMs | null };

// A window that opens so soon is waited for.
const shortWaitMs: DurationMs = 2 * 60_000;

/**
 * Whether a rollout is at rest, for a command that waits for its end; undefined while it is not. A rollout that is
 * rolled back rests when its rollback does.
 * @param all the active rollouts, rollbacks included
 */
export function restOf(status: RolloutStatus, all: readonly RolloutStatus[], now: EpochMs): Rest | undefined {
  if (status.endedAt !== null) return { kind: 'ended' };
  // Before what is still running: nobody here watches that.
  if (status.account === 'another' || status.account === 'unclear') return { kind: 'foreign' };
  if (status.state === 'rollingBack') {
    const rollback = all.find(({ id }) => id === status.rollbackId);
    const rest = rollback === undefined ? undefined : restOf(rollback, all, now);
    // With its rollback it ends, too, a moment later.
    return rest?.kind === 'ended' ? undefined : rest;
  }
  const { counts } = status;
  if (runningStates.some((state) => counts[state] > 0)) return undefined;
  const until = status.waitsFor?.until ?? null;
  switch (status.headline.kind) {
    case 'held':
    case 'paused':
      return { kind: 'held' };
    case 'needsApproval':
      return { kind: 'awaitsApproval' };
    case 'waitsForWindow':
      return until !== null && until <= now + shortWaitMs ? undefined : { kind: 'windowClosed', until };
    default:
      return undefined;
  }
}

/**
 * What has to happen until a rollout continues, for the user of `run --once`; undefined where the status says enough.
 * Only a running daemon acts on an approval, and this one ends.
 */
export function restWords(status: RolloutStatus, rest: Rest | undefined, now: EpochMs): string | undefined {
  const { id, state, blockers } = status;
  if (rest?.kind === 'foreign') return `${id}: ${blockers[0]?.reason ?? 'it belongs to another account'}`;
  if (state === 'rollingBack') return undefined;
  switch (rest?.kind) {
    case 'awaitsApproval': {
      return `${id} waits for approval: ${commandFor(status, 'approve')}, while \`upwave run\` is running`;
    }
    case 'windowClosed':
      return rest.until === null
        ? `${id}: no window opens in a year`
        : `${id}: the window is closed until ${showInstant(rest.until, now)}; run it again then, or with --wait`;
    default:
      return undefined;
  }
}
