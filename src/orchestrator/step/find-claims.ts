import type { Rollout } from '../../rollout/model/rollout.ts';
import { isUnderWay } from '../../rollout/model/upgrade.ts';
import type { CollectorHold, FleetRegister } from '../ports/fleet-register.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';

/** An operator may have held it since it was admitted: while its create was in doubt, say (P5). */
export async function findHold(
  { register }: { readonly register: Pick<FleetRegister, 'holdsOf'> },
  collectorId: number,
): Promise<CollectorHold | undefined> {
  const [hold] = await register.holdsOf([collectorId]);
  return hold;
}

/**
 * Another policy's rollout that is upgrading the same collector: two that were planned at the same moment know nothing
 * of each other. While it restarts it still shows its old build, and a poll alone would not show it (P1).
 */
export async function findRival(
  {
    store,
    policies,
  }: { readonly store: Pick<RolloutStore, 'findUpgradesOf'>; readonly policies: readonly string[] },
  rollout: Rollout,
  collectorId: number,
): Promise<string | undefined> {
  const others = policies.filter((name) => name !== rollout.policy.name);
  if (others.length === 0) return undefined;
  const found = await store.findUpgradesOf(others, collectorId);
  // An unreadable one may be under way.
  return found.find(({ upgrade }) => upgrade === undefined || isUnderWay(upgrade.progress.state))?.rolloutId;
}
