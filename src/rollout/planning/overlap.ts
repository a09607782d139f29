/** The collectors that a policy would upgrade. */
export interface PolicyClaim {
  readonly policy: string;
  /** The same id names different collectors in different accounts. */
  readonly account?: string | undefined;
  readonly members: ReadonlyArray<{ readonly id: number; readonly name: string }>;
}

/** Two policies that would both upgrade the same collectors. Whichever starts a rollout first upgrades them. */
export interface Overlap {
  readonly policies: readonly [string, string];
  readonly count: number;
  /** Some of the collectors, at most three. */
  readonly names: readonly string[];
}

// Enough examples for a person to recognise the overlap.
const namesMax = 3;

/** Finds the pairs of policies that claim the same collectors, in the order of the policies. */
export function findOverlaps(claims: readonly PolicyClaim[]): readonly Overlap[] {
  const ids = claims.map(({ members }) => new Set(members.map(({ id }) => id)));
  return claims.flatMap((second, index) =>
    claims.slice(0, index).flatMap((first, firstIndex): Overlap[] => {
      if (first.account !== second.account) return [];
      const shared = second.members.filter(({ id }) => ids[firstIndex]?.has(id) === true);
      if (shared.length === 0) return [];
      const names = shared.map(({ name }) => name).sort((a, b) => (a < b ? -1 : 1));
      const policies = [first.policy, second.policy] as const;
      return [{ policies, count: shared.length, names: names.slice(0, namesMax) }];
    }),
  );
}
