import { failedOf, failuresSeenMax } from '../rollout/failure-groups.ts';
import type { RolloutView } from '../rollout/rollout.ts';
import type { Upgrade } from '../rollout/upgrade.ts';
import type { RolloutStore } from './ports.ts';

/** The latest failed upgrades of a rollout; where its counters know of none, nothing is read. */
export async function loadFailures(
  { store }: { readonly store: RolloutStore },
  { rollout, waves }: RolloutView,
): Promise<readonly Upgrade[]> {
  if (failedOf(waves) === 0) return [];
  return store.listMissed(rollout.id, { kind: 'failed', limit: failuresSeenMax });
}
