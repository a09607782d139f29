import { splitByChain } from './domain-chains.ts';
import type { GroupedCollector } from './group-collectors.ts';
import type { CapDomain } from './plan-groups.ts';

/**
 * Orders the members of a stratum so that domains with few members in the wave, for their cap, come first; by rank among
 * equals. Those in no domain are spread evenly over the turns of the others, so that they keep their share.
 */
export function inDomainOrder(
  members: readonly GroupedCollector[],
  {
    domains,
    chainOf,
    inWave,
  }: {
    readonly domains: readonly CapDomain[];
    /** The domain each of them waits in, if any. */
    readonly chainOf: ReadonlyMap<GroupedCollector, number>;
    /** Members of each domain that the wave has already. */
    readonly inWave: readonly number[];
  },
): readonly GroupedCollector[] {
  const chains = splitByChain(members, (member) => chainOf.get(member));
  const free = chains.get(undefined) ?? [];
  const ranked: Array<{ readonly member: GroupedCollector; readonly turn: number }> = [];
  let starts = 0;
  let turns = 0;
  let count = 0;
  for (const [domain, chain] of chains) {
    if (domain === undefined) continue;
    const cap = domains[domain]?.cap ?? 1;
    const start = (inWave[domain] ?? 0) / cap;
    for (const [place, member] of chain.entries()) ranked.push({ member, turn: start + place / cap });
    starts += start;
    turns += chain.length / cap;
    count += 1;
  }
  const meanStart = starts / Math.max(1, count);
  const meanTurns = turns / Math.max(1, count);
  for (const [place, member] of free.entries()) {
    ranked.push({ member, turn: meanStart + (meanTurns * place) / free.length });
  }
  return ranked.sort((a, b) => a.turn - b.turn || a.member.rank - b.member.rank).map(({ member }) => member);
}
