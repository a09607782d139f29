import { hashNumber } from '../../base/hash.ts';
import { eachInSteps, mapInSteps, type Steps, sortInSteps } from '../../base/steps.ts';
import { type FleetCollector, valueUnder } from '../model/collector.ts';
import { type CapDomain, type Lane, valueSeparator } from '../model/plan-groups.ts';
import type { CapRule, CollectorKey, Policy } from '../model/policy.ts';

/** A planned collector with its groups, before it is assigned to a wave. */
export interface GroupedCollector {
  readonly collector: FleetCollector;
  /** Position by hash, which decides between equals: repeatable, and independent of name and age (DESIGN §4, Waves). */
  readonly rank: number;
  /** Index into the grouping's strata. */
  readonly stratum: number;
  /** Indexes into the grouping's domains. */
  readonly domains: readonly number[];
}

export interface Grouping {
  /** By rank. */
  readonly collectors: readonly GroupedCollector[];
  /** Labels, the riskiest stratum first, then the largest. */
  readonly strata: readonly string[];
  readonly domains: readonly CapDomain[];
}

/**
 * Sorts collectors into strata and cap domains. The result does not depend on the order of the input.
 * @param riskOf orders strata; absent: nothing is known of them
 */
export function* groupCollectors(
  collectors: readonly FleetCollector[],
  policy: Pick<Policy, 'spreadBy' | 'maxInFlightPer'>,
  seed: string,
  riskOf: (label: string) => number = () => 0,
): Steps<Grouping> {
  const ranked = yield* inHashOrder(collectors, seed);
  const labels = yield* mapInSteps(ranked, (collector) => stratumLabel(collector, policy.spreadBy));
  const strata = [...(yield* countLabels(labels))]
    .map((counted) => ({ counted, label: counted[0], risk: riskOf(counted[0]) }))
    .sort((a, b) => b.risk - a.risk || bySizeThenLabel(a.counted, b.counted))
    .map(({ label }) => label);
  const stratumOf = new Map(strata.map((label, index) => [label, index]));
  const { domains, domainsOf } = yield* makeDomains(ranked, policy.maxInFlightPer);
  return {
    collectors: yield* mapInSteps(ranked, (collector, rank) => ({
      collector,
      rank,
      stratum: stratumOf.get(labels[rank] ?? '') ?? 0,
      domains: domainsOf[rank] ?? noDomains,
    })),
    strata,
    domains,
  };
}

/** Orders collectors by a hash of seed and id, and by id where two hashes are equal. */
export function* inHashOrder<Collector extends Pick<FleetCollector, 'id'>>(
  collectors: readonly Collector[],
  seed: string,
): Steps<readonly Collector[]> {
  const hashed = yield* mapInSteps(collectors, (collector) => ({
    collector,
    hash: hashNumber(`${seed}/${collector.id}`),
  }));
  const sorted = yield* sortInSteps(hashed, (a, b) => a.hash - b.hash || a.collector.id - b.collector.id);
  return sorted.map(({ collector }) => collector);
}

// Shared by all collectors without a domain, to save memory.
const noDomains: readonly number[] = [];

/** A cap binds only among two or more collectors, so a value that only one collector has makes no domain. */
function* makeDomains(
  collectors: readonly FleetCollector[],
  rules: readonly CapRule[],
): Steps<{
  readonly domains: readonly CapDomain[];
  readonly domainsOf: ReadonlyArray<readonly number[] | undefined>;
}> {
  const domains: CapDomain[] = [];
  const domainsOf: (readonly number[] | undefined)[] = [];
  for (const { key, cap } of rules) {
    const labels = yield* mapInSteps(collectors, (collector) => domainLabel(collector, key));
    const indexOf = new Map<string | undefined, number>();
    for (const [label, size] of [...(yield* countLabels(labels))].sort(bySizeThenLabel)) {
      if (label === undefined || size < 2) continue;
      indexOf.set(label, domains.length);
      domains.push({ label, cap });
    }
    yield* eachInSteps(labels, (label, place) => {
      const domain = indexOf.get(label);
      if (domain !== undefined) domainsOf[place] = [...(domainsOf[place] ?? noDomains), domain];
    });
  }
  return { domains, domainsOf };
}

function* countLabels<Label>(labels: readonly Label[]): Steps<ReadonlyMap<Label, number>> {
  const counts = new Map<Label, number>();
  yield* eachInSteps(labels, (label) => void counts.set(label, (counts.get(label) ?? 0) + 1));
  return counts;
}

function bySizeThenLabel(
  [a = '', sizeA]: [string | undefined, number],
  [b = '', sizeB]: [string | undefined, number],
): number {
  return sizeB - sizeA || (a < b ? -1 : 1);
}

/** Names the stratum of a collector by its values: `Linux / amd64 / 19.441-2`. Equal labels are one stratum. */
export function stratumLabel(collector: FleetCollector, spreadBy: readonly CollectorKey[]): string {
  if (spreadBy.length === 0) return 'all';
  return spreadBy.map((key) => valueUnder(collector, key) || '(none)').join(valueSeparator);
}

/** Names the domain of a cap: `fields.cluster = db-7`; undefined for a collector without a value. */
export function domainLabel(collector: FleetCollector, key: CollectorKey): string | undefined {
  const value = valueUnder(collector, key);
  return value === '' ? undefined : `${key} = ${value}`;
}

/**
 * Numbers lanes in the order of their first use.
 * @param byZone whether collectors of different time zones are in different lanes
 * @param known lanes that keep their numbers
 */
export function makeLaneIndex(byZone: boolean, known: readonly Lane[] = []) {
  const lanes: Lane[] = [...known];
  const numbers = new Map(lanes.map((lane, index) => [nameOf(lane), index]));
  return {
    lanes,
    /** The lane for this collector, stratum and domains; adds one if none exists. */
    laneOf(collector: Pick<FleetCollector, 'timeZone'>, stratum: number, domains: readonly number[]): number {
      const lane = { stratum, timeZone: byZone ? collector.timeZone : '', domains };
      const name = nameOf(lane);
      const number = numbers.get(name);
      if (number !== undefined) return number;
      numbers.set(name, lanes.length);
      return lanes.push(lane) - 1;
    },
  };
}

function nameOf({ stratum, domains, timeZone }: Lane): string {
  return `${stratum}/${domains.join(',')}/${timeZone}`;
}
