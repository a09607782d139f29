import type { Upgrade, UpgradeState } from '../rollout/upgrade.ts';
import type { RolloutStore } from './ports/rollout-store.ts';

/**
 * All records of a state, and of a wave where one is given: as one page, since the store walks through the plan once for
 * each, and since a record that leaves the state between two pages would push another one past both.
 */
export function listAllUpgrades(
  store: Pick<RolloutStore, 'listUpgrades'>,
  rolloutId: string,
  of: { readonly state: UpgradeState; readonly wave?: number },
): Promise<readonly Upgrade[]> {
  return store.listUpgrades(rolloutId, { offset: 0, limit: Number.MAX_SAFE_INTEGER, ...of });
}
