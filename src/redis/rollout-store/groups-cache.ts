import type { PlanGroups } from '../../rollout/model/plan-groups.ts';

/** A plan's groups as they were read, with the mark of the write that brought them. */
export interface KnownGroups {
  readonly mark: string;
  readonly groups: PlanGroups;
}

/** Groups read before, so that a view need not bring them each time: thousands of lanes are hundreds of KB. */
export interface GroupsCache {
  get(rolloutId: string): KnownGroups | undefined;
  set(rolloutId: string, known: KnownGroups): void;
}

// A few policies, each with a rollout and a rollback; one more costs a read, not an error.
const rolloutsKeptMax = 8;

export function makeGroupsCache(): GroupsCache {
  const kept = new Map<string, KnownGroups>();
  return {
    get: (rolloutId) => {
      const known = kept.get(rolloutId);
      if (known === undefined) return undefined;
      // A map keeps the order of insertion: the one that was used last goes last.
      kept.delete(rolloutId);
      kept.set(rolloutId, known);
      return known;
    },
    set: (rolloutId, known) => {
      kept.delete(rolloutId);
      kept.set(rolloutId, known);
      for (const [oldest] of kept) {
        if (kept.size <= rolloutsKeptMax) break;
        kept.delete(oldest);
      }
    },
  };
}
