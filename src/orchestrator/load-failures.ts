import { failuresSeenMax, missedOf, withdrawnOf } from '../rollout/failure-groups.ts';
import type { RolloutView } from '../rollout/rollout.ts';
import type { Upgrade } from '../rollout/upgrade.ts';
import type { RolloutStore } from './ports/rollout-store.ts';

/** The latest failed upgrades of a rollout; where its counters know of none, nothing is read. */
export async function loadFailures(
  { store }: { readonly store: RolloutStore },
  view: RolloutView,
): Promise<readonly Upgrade[]> {
  const { id } = view.rollout;
  const limit = failuresSeenMax;
  const withdrawn = withdrawnOf(view) === 0 ? [] : await store.listMissed(id, { kind: 'withdrawn', limit });
  if (missedOf(view) === withdrawn.length) return withdrawn;
  const failed = await store.listMissed(id, { kind: 'failed', limit });
  return [...failed, ...withdrawn].slice(0, limit);
}
