import type { RolloutView } from '../rollout/rollout.ts';
import { isOnBuild, type Upgrade, type UpgradeState } from '../rollout/upgrade.ts';
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

/** What the soak of a wave observes: its upgraded collectors, and those that someone else upgraded. */
export async function listSoaking(
  store: Pick<RolloutStore, 'listUpgrades'>,
  view: Pick<RolloutView, 'rollout' | 'waves'>,
  wave: number,
): Promise<readonly Upgrade[]> {
  const { id } = view.rollout;
  const succeeded = await listAllUpgrades(store, id, { state: 'succeeded', wave });
  if ((view.waves[wave]?.onBuild ?? 0) === 0) return succeeded;
  const withdrawn = await listAllUpgrades(store, id, { state: 'withdrawn', wave });
  return [...succeeded, ...withdrawn.filter(isOnBuild)];
}
