import type { GroupedCollector } from './group-collectors.ts';
import type { CapDomain } from './plan-groups.ts';

/**
 * The domain that would make these members wait longest: the one with the most members for its cap.
 * @param sizes members of each domain, by its index
 */
export function tightestDomain(
  ofCollector: readonly number[],
  domains: readonly CapDomain[],
  sizes: readonly number[],
): number | undefined {
  let tightest: number | undefined;
  let longest = 0;
  for (const domain of ofCollector) {
    const turns = (sizes[domain] ?? 0) / (domains[domain]?.cap ?? 1);
    if (turns <= longest) continue;
    tightest = domain;
    longest = turns;
  }
  return tightest;
}

/** Counts the members of each domain. */
export function domainSizes(members: readonly GroupedCollector[], domains: readonly CapDomain[]): number[] {
  const sizes = domains.map(() => 0);
  for (const member of members) {
    for (const domain of member.domains) sizes[domain] = (sizes[domain] ?? 0) + 1;
  }
  return sizes;
}

/** Parts members by the domain they wait in, in their order; undefined is for those who wait in none. */
export function splitByChain(
  members: Iterable<GroupedCollector>,
  chainOf: (member: GroupedCollector) => number | undefined,
): ReadonlyMap<number | undefined, readonly GroupedCollector[]> {
  const chains = new Map<number | undefined, GroupedCollector[]>();
  for (const member of members) {
    const domain = chainOf(member);
    const chain = chains.get(domain);
    if (chain === undefined) chains.set(domain, [member]);
    else chain.push(member);
  }
  return chains;
}
