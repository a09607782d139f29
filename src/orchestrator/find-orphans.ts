import { isRolloutEnd, type RolloutState } from '../rollout/rollout.ts';
import type { RolloutStore } from './ports/rollout-store.ts';
import type { ScanBook } from './ports/scan-book.ts';

/** A rollout on its way whose policy is not in the config: it stands still until the policy is back. */
export interface OrphanedRollout {
  readonly id: string;
  readonly policy: string;
  readonly state: RolloutState;
}

export interface FindOrphansParts {
  readonly store: Pick<RolloutStore, 'activeRolloutIds' | 'loadRollout'>;
  readonly scans: Pick<ScanBook, 'read'>;
  /** Names of all policies of the config. */
  readonly policies: readonly string[];
}

/** Finds rollouts of policies that looked for work once, and are no longer in the config, such as a renamed one. */
export async function findOrphans(parts: FindOrphansParts): Promise<readonly OrphanedRollout[]> {
  const entries = await parts.scans.read();
  const gone = new Set(entries.map(({ policy }) => policy));
  for (const policy of parts.policies) gone.delete(policy);
  const policies = [...gone];
  const ids = await parts.store.activeRolloutIds(policies);
  const rollouts = await Promise.all(ids.map((id) => parts.store.loadRollout(id)));
  return rollouts.flatMap((rollout) => {
    if (rollout === undefined || isRolloutEnd(rollout.state)) return [];
    return [{ id: rollout.id, policy: rollout.policy.name, state: rollout.state }];
  });
}

/** What became of it, and what to do. */
export function describeOrphan({ id, policy, state }: OrphanedRollout): string {
  return (
    `${id} is ${state}, and stands still: no policy of the config is called ${policy}; what runs of it takes ` +
    'no slot of another policy; call a policy so again until it is over'
  );
}
