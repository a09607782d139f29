import type { Upgrade, UpgradeState } from '../rollout/upgrade.ts';
import type { RolloutStore } from './ports/rollout-store.ts';

const pageSize = 1_000;

/** All records of a state, and of a wave where one is given, page by page. */
export async function listAllUpgrades(
  store: RolloutStore,
  rolloutId: string,
  of: { readonly state: UpgradeState; readonly wave?: number },
): Promise<readonly Upgrade[]> {
  const all: Upgrade[] = [];
  // A short page is not the last one: what can't be read, or has just left the state, is not on it.
  for (let offset = 0; ; offset += pageSize) {
    const page = await store.listUpgrades(rolloutId, { offset, limit: pageSize, ...of });
    if (page.length === 0) return all;
    all.push(...page);
  }
}
