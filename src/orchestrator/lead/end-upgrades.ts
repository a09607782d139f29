import type { Rollout } from '../../rollout/model/rollout.ts';
import { runningStates, waitingStates } from '../../rollout/model/upgrade.ts';
import type { UpgradeReason } from '../../rollout/model/upgrade-reason.ts';
import type { Fence } from '../ports/leader.ts';
import type { ChangeRolloutParts } from '../records/change-rollout.ts';
import { type ChangeUpgradeParts, recordFacts } from '../records/change-upgrade.ts';
import { listAllUpgrades } from '../records/read-records.ts';

// Every one that has not started; or every one that may have run, and that nobody can watch to its end.
const statesOf = { withdrawn: waitingStates, abandoned: runningStates } as const;

/**
 * Ends upgrades of a rollout in the same way. Level-triggered: for a leader nothing is ended of a rollout that has changed
 * since it was decided, nor after another leader has followed, and the next decision asks for what was left.
 * @param of `fence` of the leader that decided it; left out where a person did, whatever has changed since
 */
export async function endUpgrades(
  parts: ChangeRolloutParts & ChangeUpgradeParts,
  rollout: Rollout,
  of: {
    readonly kind: keyof typeof statesOf;
    readonly reason: UpgradeReason;
    readonly fence?: Fence;
  },
  signal?: AbortSignal,
): Promise<'done'> {
  const { kind, reason, fence } = of;
  const guard = fence === undefined ? {} : { rolloutRev: rollout.rev, fence };
  for (const state of statesOf[kind]) {
    if (signal?.aborted === true) break;
    const upgrades = await listAllUpgrades(parts.store, rollout.id, { state });
    const at = parts.clock.now();
    const findings = upgrades.map((upgrade) => ({ upgrade, fact: { kind, at, reason } }));
    await recordFacts(parts, rollout, findings, guard, signal);
  }
  return 'done';
}
