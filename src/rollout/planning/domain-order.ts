import { eachInSteps, type Steps, sortInSteps } from '../../base/steps.ts';
import type { CapDomain } from '../model/plan-groups.ts';
import type { GroupedCollector } from './group-collectors.ts';

/**
 * Orders the members of a wave so that those who share a cap are spread over it, and a long chain of them starts early:
 * the k-th of n sits at (k - 0.5) / n of the wave. The others are spread over it by their ranks.
 */
export function* orderWave(
  members: readonly GroupedCollector[],
  domains: readonly CapDomain[],
): Steps<readonly GroupedCollector[]> {
  const sizes = domainSizes(members, domains);
  const byRank = yield* sortInSteps(members, (a, b) => a.rank - b.rank);
  const chains = yield* splitByChain(byRank, (member) => {
    const domain = tightestDomain(member.domains, domains, sizes);
    // One that is alone with its domain in the wave waits for nobody in it.
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
 * Orders the members of a stratum so that domains with few members in the wave, for their cap, come first; by rank among
 * equals. Those in no domain are spread evenly over the turns of the others, so that they keep their share.
 */
export function* inDomainOrder(
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

/** Parts members by the domain they wait in, in their order; undefined is for those who wait in none. */
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
