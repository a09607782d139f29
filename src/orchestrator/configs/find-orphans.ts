import type { OrphanedRollout } from '../../contract/admin/policies.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import type { PolicyClaims } from '../records/policy-claims.ts';

export interface FindOrphansParts {
  readonly store: Pick<RolloutStore, 'activeRolloutIds' | 'loadRollout'>;
  readonly claims: PolicyClaims;
}

/** Finds rollouts of policies that scanned once, and are no longer in the config, such as a renamed one. */
export async function findOrphans(parts: FindOrphansParts): Promise<readonly OrphanedRollout[]> {
  const missing = (await parts.claims.names()).filter(parts.claims.isMissing);
  const ids = await parts.store.activeRolloutIds(missing);
  const rollouts = await Promise.all(ids.map((id) => parts.store.loadRollout(id)));
  return rollouts.flatMap((rollout) =>
    rollout === undefined ? [] : [{ id: rollout.id, policy: rollout.policy.name, state: rollout.state }],
  );
}
