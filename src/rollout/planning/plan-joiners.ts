import { eachInSteps, filterInSteps, mapInSteps, type Steps } from '../../base/steps.ts';
import type { PlanExclusion } from '../../base/vocabulary.ts';
import { hasAttributes, tabulateAttributes } from '../model/attributes.ts';
import type { FleetCollector, FleetSnapshot } from '../model/collector.ts';
import { type CapDomain, indexOfStratum, type PlanGroups, type Stratum } from '../model/plan-groups.ts';
import type { Policy } from '../model/policy.ts';
import type { Rollout } from '../model/rollout.ts';
import type { Upgrade } from '../model/upgrade.ts';
import { longestChain, type PlannedMember } from './arrange-plan.ts';
import { type FrozenRollout, pendingUpgrade } from './freeze-plan.ts';
import { domainLabel, inHashOrder, makeLaneIndex, stratumLabel } from './group-collectors.ts';
import { makeExclusionRule, type PlanOptions } from './plan.ts';
import { seatJoiners } from './seat-joiners.ts';

/**
 * Plans late joiners: collectors that came to the fleet after the plan was frozen (DESIGN §4, Late joiners).
 * They enter the last wave that has passed or is open while it has seats, and otherwise the end of the last wave, so no
 * joiner starts before a gate allows it. Existing groups keep their indexes, and new groups are appended.
 * @param policy the current policy. Both it and the frozen policy must select a joiner, so neither a later change nor a
 *   daemon with an older config adds an excluded collector (P5). The frozen policy decides how joiners are grouped
 * @param known collectors of the fleet that have a record in this rollout
 * @returns the new records, with the changed rollout and groups; null if no collector joins
 */
export function* planJoiners(
  rollout: Rollout,
  groups: PlanGroups,
  policy: Pick<Policy, 'select' | 'target'>,
  fleet: FleetSnapshot,
  known: ReadonlySet<number>,
  options: PlanOptions = {},
): Steps<FrozenRollout | null> {
  // A rollback covers only what the original upgraded.
  if (rollout.kind === 'rollback') return null;
  const exclusionOf = makeJoinerRule(rollout, policy, fleet, options);
  const mustWait = yield* makeMustWait(rollout, groups, fleet, known);
  const joiners = yield* filterInSteps(
    fleet.collectors,
    (each) => !known.has(each.id) && exclusionOf(each) === undefined && !mustWait(each),
  );
  if (joiners.length === 0) return null;
  const planned = countPlanned(rollout);
  const extended = extendGroups(rollout, groups);
  const all = yield* inHashOrder(joiners, rollout.id);
  const waveOf = seatJoiners(rollout, groups, all);
  const isUntried = makeIsUntried(rollout, groups, { joiners: all, waveOf });
  const inOrder = yield* filterInSteps(all, (each) => !isUntried(each));
  if (inOrder.length === 0) return null;
  const upgrades = yield* mapInSteps(inOrder, (collector, index): Upgrade => {
    const wave = waveOf.get(collector.id) ?? rollout.waves.length - 1;
    const member = { ...extended.add(collector, wave), order: planned + index + 1 };
    return pendingUpgrade(
      member,
      { wave, toBuild: rollout.plan.targetBuild },
      { rolloutId: rollout.id, fleet },
    );
  });
  const { leftOut: _leftOut, ...attributes } = yield* tabulateAttributes(
    inOrder,
    rollout.plan.unweighedFields,
  );
  // A joiner may belong to a group that had no collector here.
  const { emptyGroups: _unknown, ...strata } = rollout.strata;
  return {
    upgrades,
    groups: extended.groups,
    attributes,
    rollout: {
      ...rollout,
      waves: rollout.waves.map((each, index) => {
        const members = upgrades.map(({ identity }) => identity).filter(({ wave }) => wave === index);
        const chain = Math.max(each.chain, longestChain(members, extended.groups.domains));
        return { ...each, joined: each.joined + members.length, chain };
      }),
      // A stratum that was held while it was empty may have its first members now.
      strata: {
        ...strata,
        held: rollout.strata.held.map((held) => ({
          ...held,
          stratum: indexOfStratum(extended.groups.strata, held.label),
        })),
      },
      plan: { ...rollout.plan, groupsRev: rollout.plan.groupsRev + 1 },
      rev: rollout.rev + 1,
    },
  };
}

/** Makes the rule that tells why a collector may not join: by the frozen policy, then by the current one. */
export function makeJoinerRule(
  { policy: frozen, plan: { targetBuild } }: Pick<Rollout, 'policy' | 'plan'>,
  present: Pick<Policy, 'select' | 'target'>,
  fleet: Pick<FleetSnapshot, 'collectors' | 'upgradableIds'>,
  options: PlanOptions,
): (collector: FleetCollector) => PlanExclusion | undefined {
  const byFrozen = makeExclusionRule(frozen, targetBuild, fleet, options);
  const byPresent = makeExclusionRule(present, targetBuild, fleet, options);
  return (collector) => byFrozen(collector) ?? byPresent(collector);
}

/**
 * A planned collector whose value was unique is in no domain of that cap, and may be retried at any time. A joiner with
 * the same value therefore waits for the next rollout (P2). So does a joiner whose value a planned collector missing from
 * this reading may have.
 */
function* makeMustWait(
  rollout: Rollout,
  groups: PlanGroups,
  fleet: FleetSnapshot,
  known: ReadonlySet<number>,
): Steps<(collector: FleetCollector) => boolean> {
  const domains = new Set(groups.domains.map(({ label }) => label));
  const labelsOf = (collector: FleetCollector) =>
    rollout.policy.maxInFlightPer
      .flatMap(({ key }) => domainLabel(collector, key) ?? [])
      .filter((label) => !domains.has(label));
  const taken = new Set<string>();
  yield* eachInSteps(fleet.collectors, (collector) => {
    if (known.has(collector.id)) for (const label of labelsOf(collector)) taken.add(label);
  });
  const isAnyMissing = known.size < countPlanned(rollout);
  return (collector) => labelsOf(collector).some((label) => isAnyMissing || taken.has(label));
}

/**
 * Makes the rule for joiners of a stratum that the plan lacks. In the last wave no other would have tried it before all of
 * them, so they wait for the next rollout, unless one of them has a seat in an earlier wave (P3). Held strata start nothing.
 */
function makeIsUntried(
  rollout: Rollout,
  groups: PlanGroups,
  {
    joiners,
    waveOf,
  }: { readonly joiners: readonly FleetCollector[]; readonly waveOf: ReadonlyMap<number, number> },
): (collector: FleetCollector) => boolean {
  const last = rollout.waves.length - 1;
  if (last === 0) return () => false;
  const planned = groups.strata.filter(({ sizes }) => sizes.some((size) => size > 0));
  const stratumOf = makeStratumOf(rollout, groups);
  const seated = joiners.filter(({ id }) => waveOf.get(id) !== last).map(stratumOf);
  const tried = new Set([...planned, ...rollout.strata.held, ...seated].map(({ label }) => label));
  return (collector) => !tried.has(stratumOf(collector).label);
}

/** Whether this collector alone would wait for the next rollout, because its stratum is untried. */
export function waitsForNextRollout(rollout: Rollout, groups: PlanGroups, joiner: FleetCollector): boolean {
  const joiners = [joiner];
  return makeIsUntried(rollout, groups, { joiners, waveOf: seatJoiners(rollout, groups, joiners) })(joiner);
}

function countPlanned({ waves }: Rollout): number {
  return waves.reduce((sum, { size, joined }) => sum + size + joined, 0);
}

/** Makes the function that returns the stratum of a joiner: a group that it belongs to, else that of `spreadBy`. */
function makeStratumOf({ policy, strata }: Rollout, groups: PlanGroups) {
  // Held groups come first: a collector that matches a held and a released group is held.
  const ofGroups = [...strata.held, ...groups.strata].flatMap(({ label, attributes }) =>
    attributes === undefined ? [] : [{ label, attributes }],
  );
  return (collector: FleetCollector): Pick<Stratum, 'label' | 'attributes'> =>
    ofGroups.find(({ attributes }) => hasAttributes(collector, attributes)) ?? {
      label: stratumLabel(collector, policy.spreadBy),
    };
}

/** Finds or adds the groups of joiners. */
function extendGroups(rollout: Rollout, groups: PlanGroups) {
  const { policy, waves } = rollout;
  const strata = groups.strata.map(({ sizes, ...rest }) => ({ ...rest, sizes: [...sizes] }));
  const namedStratumOf = makeStratumOf(rollout, groups);
  const domains = [...groups.domains];
  const laneIndex = makeLaneIndex(rollout.plan.knowsZones, groups.lanes);
  const stratumOf = new Map(strata.map(({ label }, index) => [label, index]));
  const domainOf = new Map(domains.map(({ label }, index) => [label, index]));
  const extended: PlanGroups = { ...groups, strata, domains, lanes: laneIndex.lanes };
  const add = (collector: FleetCollector, wave: number): Omit<PlannedMember, 'order'> => {
    const named = namedStratumOf(collector);
    const stratum = indexIn<Stratum>(stratumOf, strata, { ...named, sizes: waves.map(() => 0) });
    const sizes = strata[stratum]?.sizes;
    if (sizes !== undefined) sizes[wave] = (sizes[wave] ?? 0) + 1;
    const inDomains = policy.maxInFlightPer.flatMap(({ key, cap }) => {
      const name = domainLabel(collector, key);
      return name === undefined ? [] : indexIn<CapDomain>(domainOf, domains, { label: name, cap });
    });
    return { collector, stratum, domains: inDomains, lane: laneIndex.laneOf(collector, stratum, inDomains) };
  };
  return { groups: extended, add };
}

function indexIn<Group extends { readonly label: string }>(
  indexOf: Map<string, number>,
  groups: Group[],
  group: Group,
): number {
  const index = indexOf.get(group.label);
  if (index !== undefined) return index;
  indexOf.set(group.label, groups.length);
  return groups.push(group) - 1;
}
