import type { EpochMs } from '../base/time.ts';
import { assessHeartbeat, type FleetSnapshot } from './collector.ts';
import { type LeftOut, leftOutReasons, type Plan } from './plan.ts';
import type { Policy } from './policy.ts';
import type { Rollout } from './rollout.ts';
import type { Upgrade } from './upgrade.ts';

// More than a handful of builds does not fit a status line.
const fromBuildsMax = 5;

/** Turns a plan into a rollout and one record for each planned collector: from here on nothing is added (P5). */
export function freezePlan(
  plan: Plan,
  origin: {
    readonly id: string;
    readonly policy: Policy;
    readonly startedBy: string;
    readonly createdAt: EpochMs;
    readonly fleet: Pick<FleetSnapshot, 'readAt' | 'serviceAt'>;
  },
): { rollout: Rollout; upgrades: readonly Upgrade[] } {
  const { fleet, ...named } = origin;
  const rollout: Rollout = {
    ...named,
    fleetReadAt: fleet.readAt,
    targetBuild: plan.targetBuild,
    fromBuilds: mostFrequentBuilds(plan),
    planHash: plan.hash,
    state: 'running',
    reason: `by ${origin.startedBy}`,
    waves: plan.waves.map(({ name, members }) => ({
      name,
      size: members.length,
      state: 'waiting',
      openedAt: null,
      soakEndsAt: null,
      passedAt: null,
      acknowledgedWeight: 0,
      acceptedWithoutEvidence: false,
    })),
    leftOut: countLeftOut(plan.leftOut),
    endedAt: null,
    rev: 1,
  };
  let order = 0;
  const upgrades = plan.waves.flatMap(({ members }, wave) =>
    members.map((collector): Upgrade => {
      order += 1;
      return {
        rolloutId: origin.id,
        collectorId: collector.id,
        collectorName: collector.name,
        wave,
        order,
        fromBuild: collector.build,
        fitAt: assessHeartbeat(collector.lastSeenAlive, fleet.serviceAt) === 'heard' ? fleet.readAt : 0,
        rev: 1,
        attempts: 0,
        doubts: 0,
        unexplained: 0,
        misses: 0,
        firstStartedAt: null,
        state: 'pending',
      };
    }),
  );
  return { rollout, upgrades };
}

/** How many collectors are left out, by reason in words. */
export function countLeftOut(leftOut: readonly LeftOut[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reason } of leftOut) {
    const words = leftOutReasons[reason];
    counts[words] = (counts[words] ?? 0) + 1;
  }
  return counts;
}

function mostFrequentBuilds(plan: Plan): readonly string[] {
  const counts = new Map<string, number>();
  for (const wave of plan.waves) {
    for (const { build } of wave.members) counts.set(build, (counts.get(build) ?? 0) + 1);
  }
  return [...counts.entries()]
    .sort(([a, countA], [b, countB]) => countB - countA || a.localeCompare(b))
    .slice(0, fromBuildsMax)
    .map(([build]) => build);
}
