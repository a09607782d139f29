import type { Rollout } from '../rollout/rollout.ts';
import type { UpgradeState } from '../rollout/upgrade.ts';
import type { ChangeRolloutParts } from './change-rollout.ts';
import { type ChangeUpgradeParts, recordFacts } from './change-upgrade.ts';
import { listAllUpgrades } from './list-all-upgrades.ts';
import type { Fence } from './ports/leader-lease.ts';

/** Collectors in these states have no task, and none is under way. */
const waitingStates: readonly UpgradeState[] = ['pending', 'retrying', 'deferred'];

/**
 * Ends every upgrade of a rollout that has not started; one that runs is watched to its end. Level-triggered: nothing is
 * withdrawn of a rollout that has changed since it was decided, nor for a leader that was followed by another, and
 * the next decision asks for what was left.
 */
export async function withdrawWaiting(
  parts: ChangeRolloutParts & ChangeUpgradeParts,
  rollout: Rollout,
  { reason, fence }: { readonly reason: string; readonly fence: Fence },
  signal: AbortSignal,
): Promise<'done'> {
  for (const state of waitingStates) {
    if (signal.aborted) break;
    const upgrades = await listAllUpgrades(parts.store, rollout.id, { state });
    const at = parts.clock.now();
    const news = upgrades.map((upgrade) => ({ upgrade, fact: { kind: 'withdrawn', at, reason } as const }));
    await recordFacts(parts, rollout, news, { rolloutRev: rollout.rev, fence }, signal);
  }
  return 'done';
}
