import type { RolloutState } from '../../rollout/model/rollout.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import type { ScanBook } from '../ports/scan-book.ts';
import type { Configs } from './configs.ts';

/** An open rollout whose policy is not in the config: it waits until the policy is back, or until a person aborts it. */
export interface OrphanedRollout {
  readonly id: string;
  readonly policy: string;
  /** An end state while running upgrades are watched to their end. */
  readonly state: RolloutState;
}

export interface FindOrphansParts {
  readonly store: Pick<RolloutStore, 'activeRolloutIds' | 'loadRollout'>;
  readonly scans: Pick<ScanBook, 'read'>;
  /** Names of all policies of the config. */
  readonly policies: readonly string[];
  readonly configs?: Pick<Configs, 'living'>;
}

/** The policies of this daemon's config, and of those of the other running daemons, which may be newer. */
export function knownPolicies({
  policies,
  configs,
}: Pick<FindOrphansParts, 'policies' | 'configs'>): ReadonlySet<string> {
  const others = configs?.living().others ?? [];
  return new Set([...policies, ...others.flatMap((each) => each.configs.map(({ policy }) => policy))]);
}

/** Finds rollouts of policies that scanned once, and are no longer in the config, such as a renamed one. */
export async function findOrphans(parts: FindOrphansParts): Promise<readonly OrphanedRollout[]> {
  const entries = await parts.scans.read();
  const known = knownPolicies(parts);
  const gone = new Set(entries.map(({ policy }) => policy).filter((policy) => !known.has(policy)));
  const ids = await parts.store.activeRolloutIds([...gone]);
  const rollouts = await Promise.all(ids.map((id) => parts.store.loadRollout(id)));
  return rollouts.flatMap((rollout) =>
    rollout === undefined ? [] : [{ id: rollout.id, policy: rollout.policy.name, state: rollout.state }],
  );
}
