import { domainSizes, splitByChain, tightestDomain } from './domain-chains.ts';
import type { GroupedCollector } from './group-collectors.ts';
import type { CapDomain } from './plan-groups.ts';

/**
 * Orders the members of a wave so that those who share a cap are spread over it, and a long chain of them starts early:
 * the k-th of n sits at (k - 0.5) / n of the wave. The others are spread over it by their ranks.
 */
export function orderWave(
  members: readonly GroupedCollector[],
  domains: readonly CapDomain[],
): readonly GroupedCollector[] {
  const sizes = domainSizes(members, domains);
  const chains = splitByChain(
    [...members].sort((a, b) => a.rank - b.rank),
    (member) => {
      const domain = tightestDomain(member.domains, domains, sizes);
      // One that is alone with its domain in the wave waits for nobody in it.
      return domain !== undefined && (sizes[domain] ?? 0) > 1 ? domain : undefined;
    },
  );
  return [...chains.values()]
    .flatMap((chain) => chain.map((member, index) => ({ member, position: (index + 0.5) / chain.length })))
    .sort((a, b) => a.position - b.position || a.member.rank - b.member.rank)
    .map(({ member }) => member);
}
