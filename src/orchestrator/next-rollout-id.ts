import type { EpochMs } from '../base/time.ts';
import type { RolloutStore } from './ports/rollout-store.ts';

/** The next free `<policy>-<UTC yyyymmdd>-<n>` (DESIGN §1). */
export async function nextRolloutId(store: RolloutStore, policy: string, at: EpochMs): Promise<string> {
  const yyyymmdd = new Date(at).toISOString().slice(0, 10).replaceAll('-', '');
  return `${policy}-${yyyymmdd}-${await store.nextRolloutNumber(policy, yyyymmdd)}`;
}
