import type { PlannedMember } from './arrange-plan.ts';
import type { CapDomain } from './plan-groups.ts';

/** How many of these members the tightest cap makes wait for each other; 1 where no cap binds, 0 for nobody. */
export function longestChain(
  members: readonly Pick<PlannedMember, 'domains'>[],
  domains: readonly CapDomain[],
): number {
  const counts = new Map<number, number>();
  for (const member of members) {
    for (const domain of member.domains) counts.set(domain, (counts.get(domain) ?? 0) + 1);
  }
  let chain = Math.min(1, members.length);
  for (const [domain, count] of counts)
    chain = Math.max(chain, Math.ceil(count / (domains[domain]?.cap ?? 1)));
  return chain;
}
