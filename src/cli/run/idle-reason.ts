import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { runningStates } from '../../rollout/model/upgrade.ts';
import { commandFor } from '../../rollout/status/command-for.ts';
import { showZoned } from '../shell/show-instant.ts';

/** Why a rollout does not continue by itself, or not for a while. */
export type Rest =
  | { readonly kind: 'ended' }
  /** Held or paused, and none of its upgrades is running. */
  | { readonly kind: 'held' }
  | { readonly kind: 'awaitsApproval' }
  /** It belongs to another account, and this daemon leaves it alone. */
  | { readonly kind: 'foreign' }
  /** null: no window opens within a year. */
  | { readonly kind: 'windowClosed'; readonly until: EpochMs | null };

// The command waits for a window that opens this soon.
const shortWaitMs: DurationMs = 2 * 60_000;

/**
 * Why a rollout is at rest, for a command that waits for its end; undefined while it is not. A rollout that is rolling back
 * is at rest when its rollback is.
 * @param all the active rollouts, rollbacks included
 */
export function restOf(status: RolloutStatus, all: readonly RolloutStatus[], now: EpochMs): Rest | undefined {
  if (status.endedAt !== null) return { kind: 'ended' };
  // Checked before the running upgrades, because this daemon does not watch them.
  if (status.account === 'another' || status.account === 'unclear') return { kind: 'foreign' };
  if (status.state === 'rollingBack') {
    const rollback = all.find(({ id }) => id === status.rollbackId);
    const rest = rollback === undefined ? undefined : restOf(rollback, all, now);
    // It ends a moment after its rollback.
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
 * What has to happen before a rollout continues, for the user of `run --once`; undefined where the status is clear enough.
 * Only a running daemon acts on an approval, and this daemon ends.
 */
export function restText(status: RolloutStatus, rest: Rest | undefined, now: EpochMs): string | undefined {
  const { id, state, blockers } = status;
  if (rest?.kind === 'foreign') return `${id}: ${blockers[0]?.reason ?? 'it belongs to another account'}`;
  if (state === 'rollingBack') return undefined;
  switch (rest?.kind) {
    case 'awaitsApproval': {
      return `${id} waits for approval: ${commandFor(status, 'approve')}, while \`upwave run\` is running`;
    }
    case 'windowClosed':
      return rest.until === null
        ? `${id}: no window opens within a year`
        : `${id}: the window is closed until ${showZoned(rest.until, now)}; run it again then, or with --wait`;
    default:
      return undefined;
  }
}
