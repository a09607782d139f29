import { eachInSteps, type Steps, sortInSteps } from '../../base/steps.ts';
import type { CapDomain } from '../model/plan-groups.ts';
import type { GroupedCollector } from './group-collectors.ts';

/**
 * Orders the members of a wave. Members that share a cap form a chain, and each chain is spread over the whole wave, with
 * the k-th of n at (k - 0.5) / n, so that a long chain starts early. Members without a cap are spread by rank.
 */
export function* orderWave(
  members: readonly GroupedCollector[],
  domains: readonly CapDomain[],
): Steps<readonly GroupedCollector[]> {
  const sizes = domainSizes(members, domains);
  const byRank = yield* sortInSteps(members, (a, b) => a.rank - b.rank);
  const chains = yield* splitByChain(byRank, (member) => {
    const domain = tightestDomain(member.domains, domains, sizes);
    // The only member of a domain in this wave waits for no other member.
    return domain !== undefined && (sizes[domain] ?? 0) > 1 ? domain : undefined;
  });
  const placed: Array<{ readonly member: GroupedCollector; readonly position: number }> = [];
  for (const chain of chains.values())
    yield* eachInSteps(
      chain,
      (member, index) => void placed.push({ member, position: (index + 0.5) / chain.length }),
    );
  const ordered = yield* sortInSteps(
    placed,
    (a, b) => a.position - b.position || a.member.rank - b.member.rank,
  );
  return ordered.map(({ member }) => member);
}

/**
 * Orders the members of a stratum. Domains with few members in the wave, relative to their cap, come first; rank decides
 * between equals. Members without a domain are spread evenly among the others to keep their share of the seats.
 */
export function* inDomainOrder(
  members: readonly GroupedCollector[],
  {
    domains,
    chainOf,
    inWave,
  }: {
    readonly domains: readonly CapDomain[];
    /** The tightest domain of each member that has one. */
    readonly chainOf: ReadonlyMap<GroupedCollector, number>;
    /** How many members of each domain are already in the wave. */
    readonly inWave: readonly number[];
  },
): Steps<readonly GroupedCollector[]> {
  const chains = yield* splitByChain(members, (member) => chainOf.get(member));
  const free = chains.get(undefined) ?? [];
  const ranked: Array<{ readonly member: GroupedCollector; readonly turn: number }> = [];
  let starts = 0;
  let turns = 0;
  let count = 0;
  for (const [domain, chain] of chains) {
    if (domain === undefined) continue;
    const cap = domains[domain]?.cap ?? 1;
    const start = (inWave[domain] ?? 0) / cap;
    yield* eachInSteps(chain, (member, place) => void ranked.push({ member, turn: start + place / cap }));
    starts += start;
    turns += chain.length / cap;
    count += 1;
  }
  const meanStart = starts / Math.max(1, count);
  const meanTurns = turns / Math.max(1, count);
  yield* eachInSteps(free, (member, place) => {
    ranked.push({ member, turn: meanStart + (meanTurns * place) / free.length });
  });
  const ordered = yield* sortInSteps(ranked, (a, b) => a.turn - b.turn || a.member.rank - b.member.rank);
  return ordered.map(({ member }) => member);
}

/**
 * The domain of a collector with the most members relative to its cap, which makes it wait longest.
 * @param sizes number of members of each domain, by index
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
export function domainSizes(
  members: ReadonlyArray<Pick<GroupedCollector, 'domains'>>,
  domains: readonly CapDomain[],
): number[] {
  const sizes = domains.map(() => 0);
  for (const member of members) {
    for (const domain of member.domains) sizes[domain] = (sizes[domain] ?? 0) + 1;
  }
  return sizes;
}

/** Groups members by their tightest domain and keeps their order; the key is undefined for members without one. */
function* splitByChain(
  members: Iterable<GroupedCollector>,
  chainOf: (member: GroupedCollector) => number | undefined,
): Steps<ReadonlyMap<number | undefined, readonly GroupedCollector[]>> {
  const chains = new Map<number | undefined, GroupedCollector[]>();
  yield* eachInSteps(members, (member) => {
    const domain = chainOf(member);
    const chain = chains.get(domain);
    if (chain === undefined) chains.set(domain, [member]);
    else chain.push(member);
  });
  return chains;
}
