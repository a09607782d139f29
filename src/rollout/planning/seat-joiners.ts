import type { FleetCollector } from '../model/collector.ts';
import type { PlanGroups } from '../model/plan-groups.ts';
import type { Rollout, Wave } from '../model/rollout.ts';
import { domainLabel, stratumLabel } from './group-collectors.ts';
import { compileMatch } from './selector.ts';
import { seatsOf } from './take-seats.ts';

/**
 * Assigns late joiners to waves (DESIGN §4, Late joiners). The last wave that has passed or is open takes as many as its
 * size rule allows in the grown plan. All others enter the last wave. A fleet that returns from an outage therefore does
 * not flood an open canary, and no joiner delays the end of a soak.
 * @param joiners in the order of their choice
 * @returns the wave of each joiner, by collector id
 */
export function seatJoiners(
  rollout: Rollout,
  groups: PlanGroups,
  joiners: readonly FleetCollector[],
): ReadonlyMap<number, number> {
  const last = rollout.waves.length - 1;
  const index = waveToJoin(rollout.waves);
  const rule = rollout.policy.waves[index];
  const wave = rollout.waves[index];
  const waves = new Map(joiners.map(({ id }) => [id, last]));
  if (index === last || rule === undefined || wave === undefined) return waves;
  const matches = compileMatch(rule.match);
  const staysBehind = makeStaysBehind(rollout, groups, joiners);
  const byStratum = new Map(groups.strata.map(({ label }) => [label, [] as FleetCollector[]]));
  for (const joiner of joiners) {
    if (!matches(joiner) || staysBehind(joiner)) continue;
    const label = stratumLabel(joiner, rollout.policy.spreadBy);
    const alike = byStratum.get(label);
    if (alike === undefined) byStratum.set(label, [joiner]);
    else alike.push(joiner);
  }
  const members = [...byStratum.values()];
  const claims = members.map((alike, stratum) => {
    const sizes = groups.strata[stratum]?.sizes ?? [];
    const covered = sizes.slice(0, index + 1).some((count) => count > 0);
    return { left: alike.length, covered, has: sizes[index] ?? 0 };
  });
  const planned = rollout.waves.reduce((sum, each) => sum + each.size + each.joined, joiners.length);
  const seats = seatsOf(rule.size, { planned, taken: wave.size + wave.joined }, claims);
  for (const [stratum, free] of seats.entries())
    for (const { id } of members[stratum]?.slice(0, free) ?? []) waves.set(id, index);
  return waves;
}

/** Joiners must not change a wave that is being judged, so only the last wave takes them while it soaks. */
function waveToJoin(waves: readonly Wave[]): number {
  const last = waves.length - 1;
  if (waves[last]?.state === 'soaking') return last;
  const begun = waves.findLastIndex(({ state }) => state === 'passed' || state === 'open');
  return begun === -1 ? last : begun;
}

/**
 * One member of every cap domain stays for the last wave, as in the plan. This matters only for domains that joiners
 * create, because all others already have planned members.
 */
function makeStaysBehind(
  { policy }: Rollout,
  groups: PlanGroups,
  joiners: readonly FleetCollector[],
): (joiner: FleetCollector) => boolean {
  const known = new Set(groups.domains.map(({ label }) => label));
  const labelsOf = (joiner: FleetCollector) =>
    policy.maxInFlightPer.flatMap(({ key }) => domainLabel(joiner, key) ?? []);
  const behind = new Map<string, number>();
  const counts = new Map<string, number>();
  for (const joiner of joiners) {
    for (const label of labelsOf(joiner)) {
      if (known.has(label)) continue;
      counts.set(label, (counts.get(label) ?? 0) + 1);
      behind.set(label, joiner.id);
    }
  }
  return (joiner) =>
    labelsOf(joiner).some((label) => behind.get(label) === joiner.id && (counts.get(label) ?? 0) > 1);
}
