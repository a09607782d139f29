import type { Clock } from '../../base/time.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { notStartedStates, runningStates } from '../../rollout/model/upgrade.ts';
import type { UpgradeReason } from '../../rollout/model/upgrade-reason.ts';
import type { Fence } from '../ports/leader.ts';
import { type RecordParts, recordFacts } from '../records/change-upgrade.ts';
import { listAllUpgrades } from '../records/read-records.ts';

// All upgrades that have not started; or all that may be running, in an account that this daemon can't watch.
const statesOf = { withdrawn: notStartedStates, abandoned: runningStates } as const;

/**
 * Withdraws or abandons upgrades of a rollout. Level-triggered: a leader ends nothing if the rollout has changed since the
 * decision, or if another leader has followed. The next decision requests the remaining upgrades.
 * @param ending `fence` of the leader that decided it; absent if an operator asked for it, which applies in any case
 */
export async function endUpgrades(
  parts: RecordParts & { readonly clock: Clock },
  rollout: Rollout,
  ending: {
    readonly kind: keyof typeof statesOf;
    readonly reason: UpgradeReason;
    readonly fence?: Fence;
  },
  signal?: AbortSignal,
): Promise<'done'> {
  const { kind, reason, fence } = ending;
  const guard = fence === undefined ? {} : { rolloutRev: rollout.rev, fence };
  for (const state of statesOf[kind]) {
    if (signal?.aborted === true) break;
    const upgrades = await listAllUpgrades(parts.store, rollout.id, { state });
    const at = parts.clock.now();
    const trusted = { trustedSince: parts.trustedSince() };
    const findings = upgrades.map((upgrade) => ({ upgrade, fact: { kind, at, reason, ...trusted } }));
    await recordFacts(parts, rollout, findings, guard, signal);
  }
  return 'done';
}
