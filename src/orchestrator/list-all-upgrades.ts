import type { Upgrade, UpgradeState } from '../rollout/upgrade.ts';
import type { RolloutStore } from './ports.ts';

const pageSize = 1_000;

/** All records of a state, and of a wave where one is given, page by page. */
export async function listAllUpgrades(
  store: RolloutStore,
  rolloutId: string,
  of: { readonly state: UpgradeState; readonly wave?: number },
): Promise<readonly Upgrade[]> {
  const all: Upgrade[] = [];
  for (let full = true; full; ) {
    const page = await store.listUpgrades(rolloutId, { offset: all.length, limit: pageSize, ...of });
    all.push(...page);
    full = page.length === pageSize;
  }
  return all;
}
