import { sumOf } from '../../base/grouping.ts';
import { eachInSteps, filterInSteps, type Steps } from '../../base/steps.ts';
import type { Attribute } from '../model/attributes.ts';
import { membersOf, type WaveRule, type WaveSize } from '../model/policy.ts';
import { domainSizes, inDomainOrder, tightestDomain } from './domain-order.ts';
import type { GroupedCollector, Grouping } from './group-collectors.ts';
import { compileMatch } from './selector.ts';
import { makeUntriedValues, type UntriedValues } from './untried-values.ts';

/** Mutable state while waves are filled. */
interface Seating {
  readonly grouping: Grouping;
  /** The tightest domain of each collector in the whole plan. */
  readonly chainOf: ReadonlyMap<GroupedCollector, number>;
  /** Members of each stratum that have no wave yet, by rank. */
  left: ReadonlyArray<readonly GroupedCollector[]>;
  /** Whether a stratum has a member in a wave. */
  readonly covered: boolean[];
  /** How many members of each domain have no wave yet. */
  readonly unplanned: number[];
  readonly untried: UntriedValues;
}

/** A group that failed in earlier rollouts. */
type Risky = readonly Attribute[];

/**
 * Assigns every collector to a wave (DESIGN §4, Waves). Each wave fills its seats from the remaining collectors, spread
 * over the strata, and the last wave takes the rest. One member of every cap domain stays for the last wave, even if a
 * seat stays empty. A first wave whose `match` matches no collector takes one of each stratum. Seats of a stratum go to a
 * member of each risky group first, then to members with attribute values that no wave has tried.
 * @returns the members of each wave
 */
export function* takeSeats(
  grouping: Grouping,
  rules: readonly WaveRule[],
  risky: readonly Risky[] = [],
): Steps<ReadonlyArray<readonly GroupedCollector[]>> {
  const seating = yield* beginSeating(grouping, risky);
  const waves: Array<readonly GroupedCollector[]> = [];
  for (const [index, rule] of rules.slice(0, -1).entries()) {
    const members = yield* fillWave(seating, rule);
    const isUntried = index === 0 && members.length === 0 && rule.match !== undefined;
    waves.push(isUntried ? yield* fillWave(seating, plainCanary) : members);
  }
  return [...waves, seating.left.flat()];
}

// An empty canary would pass at once and let all others start without evidence (P14).
const plainCanary = { size: { kind: 'perStratum', count: 1 } } as const;

function* beginSeating(grouping: Grouping, risky: readonly Risky[]): Steps<Seating> {
  const { collectors, strata, domains } = grouping;
  const left: GroupedCollector[][] = strata.map(() => []);
  const unplanned = domainSizes(collectors, domains);
  const chainOf = new Map<GroupedCollector, number>();
  yield* eachInSteps(collectors, (member) => {
    left[member.stratum]?.push(member);
    const chain = tightestDomain(member.domains, domains, unplanned);
    if (chain !== undefined) chainOf.set(member, chain);
  });
  const untried = yield* makeUntriedValues(
    collectors.map(({ collector }) => collector),
    risky,
  );
  return { grouping, chainOf, left, covered: strata.map(() => false), unplanned, untried };
}

function* fillWave(
  seating: Seating,
  rule: Pick<WaveRule, 'size' | 'match'>,
): Steps<readonly GroupedCollector[]> {
  const { unplanned, covered, chainOf, untried } = seating;
  const { domains } = seating.grouping;
  const matches = compileMatch(rule.match);
  const isTheLast = (member: GroupedCollector) =>
    member.domains.some((domain) => (unplanned[domain] ?? 0) < 2);
  const open: GroupedCollector[][] = [];
  for (const members of seating.left)
    open.push(yield* filterInSteps(members, (member) => !isTheLast(member) && matches(member.collector)));
  const claims = open.map((members, stratum) => {
    return { left: members.length, covered: covered[stratum] ?? false, has: 0 };
  });
  const seats = seatsOf(rule.size, { planned: seating.grouping.collectors.length, taken: 0 }, claims);
  const inWave = unplanned.map(() => 0);
  const taken = new Set<GroupedCollector>();
  function* take(unordered: readonly GroupedCollector[], wanted: number): Steps<void> {
    const members =
      domains.length === 0 ? unordered : yield* inDomainOrder(unordered, { domains, chainOf, inWave });
    let free = wanted;
    // Members that share caps keep the order that spreads the caps.
    const isFree = members.every((member) => member.domains.length === 0);
    const byValues = isFree ? seekValues(members, untried) : members;
    for (const member of riskyFirst(members, byValues, untried)) {
      if (free === 0) return;
      if (isTheLast(member) || taken.has(member)) continue;
      taken.add(member);
      untried.note(member.collector);
      free -= 1;
      for (const domain of member.domains) {
        unplanned[domain] = (unplanned[domain] ?? 0) - 1;
        inWave[domain] = (inWave[domain] ?? 0) + 1;
      }
      yield;
    }
  }
  // Small strata choose first, because they have the fewest alternatives. Each stratum gets one seat before any gets its
  // second, which could take the last free place of a domain.
  const strata = seats
    .map((wanted, stratum) => ({ wanted, stratum, members: open[stratum] ?? [] }))
    .filter(({ wanted }) => wanted > 0)
    .sort((a, b) => a.members.length - b.members.length || a.stratum - b.stratum);
  for (const { members } of strata) yield* take(members, 1);
  for (const { members, wanted } of strata) {
    if (wanted > 1) yield* take(yield* filterInSteps(members, (member) => !taken.has(member)), wanted - 1);
  }
  for (const { stratum } of taken) covered[stratum] = true;
  const left: GroupedCollector[][] = [];
  for (const members of seating.left)
    left.push(yield* filterInSteps(members, (member) => !taken.has(member)));
  seating.left = left;
  return [...taken];
}

/** Members of groups that no wave has tried by the time they come, then the others, which may have them again. */
function* riskyFirst(
  members: readonly GroupedCollector[],
  others: Iterable<GroupedCollector>,
  untried: UntriedValues,
): Generator<GroupedCollector> {
  for (const member of members) {
    if (!untried.hasGroups()) break;
    if (untried.groupsOf(member.collector) > 0) yield member;
  }
  yield* others;
}

// Bounds the cost of each seat: half of all attribute values occur among the first few dozen collectors.
const comparedMax = 50;

/** Orders members by how many untried attribute values they have, among the next `comparedMax` members by rank. */
function* seekValues(
  members: readonly GroupedCollector[],
  untried: UntriedValues,
): Generator<GroupedCollector> {
  const compared: GroupedCollector[] = [];
  let next = 0;
  for (let seats = members.length; seats > 0; seats -= 1) {
    while (compared.length < comparedMax && next < members.length) {
      const member = members[next];
      if (member !== undefined) compared.push(member);
      next += 1;
    }
    let best = 0;
    let most = 0;
    for (const [index, { collector }] of compared.entries()) {
      if (untried.isDone()) break;
      const count = untried.countOf(collector);
      if (count > most) [best, most] = [index, count];
    }
    yield* compared.splice(best, 1);
  }
}

/** A stratum's claim to seats of a wave. */
export interface SeatClaim {
  /** Members that can still take a seat. */
  readonly left: number;
  /** An earlier wave has members of it. */
  readonly covered: boolean;
}

/**
 * Seats of each stratum, by the wave's rule.
 * @param wave `planned`: collectors of the whole plan. `taken`: seats of the wave that are taken
 * @param claims `has`: members that the stratum has in this wave already
 */
export function seatsOf(
  size: WaveSize,
  { planned, taken }: { readonly planned: number; readonly taken: number },
  claims: ReadonlyArray<SeatClaim & { readonly has: number }>,
): readonly number[] {
  if (size.kind === 'perStratum')
    return claims.map(({ left, has }) => Math.min(left, Math.max(0, size.count - has)));
  return shareSeats(Math.max(0, membersOf(size, planned) - taken), claims);
}

/**
 * Divides the seats of a wave among the strata, largest first: one seat for each stratum that no earlier wave covers, one
 * for each other stratum, and the remaining seats in proportion to the remaining members (DESIGN §4, Waves).
 * @returns seats of each stratum, at most as many as it has members left
 */
export function shareSeats(seats: number, claims: readonly SeatClaim[]): number[] {
  const shares = claims.map(() => 0);
  const left = sumOf(claims, (claim) => claim.left);
  let free = Math.min(seats, left);
  for (const turn of [false, true]) {
    for (const [index, { left, covered }] of claims.entries()) {
      if (free === 0) return shares;
      if (covered !== turn || left === 0) continue;
      shares[index] = 1;
      free -= 1;
    }
  }
  const inProportion = divideByRemainder(
    free,
    claims.map(({ left }, index) => left - (shares[index] ?? 0)),
  );
  return shares.map((count, index) => count + (inProportion[index] ?? 0));
}

/** Divides seats by the largest-remainder method, in whole numbers to avoid rounding errors. */
function divideByRemainder(seats: number, weights: readonly number[]): number[] {
  const total = sumOf(weights, (weight) => weight);
  if (total === 0) return weights.map(() => 0);
  const shares = weights.map((weight) => Math.floor((seats * weight) / total));
  const rest = seats - sumOf(shares, (share) => share);
  const favoured = weights
    .map((weight, index) => ({ index, remainder: (seats * weight) % total }))
    .sort((a, b) => b.remainder - a.remainder || a.index - b.index)
    .slice(0, rest);
  for (const { index } of favoured) shares[index] = (shares[index] ?? 0) + 1;
  return shares;
}
