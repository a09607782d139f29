import { countEach } from '../../base/grouping.ts';
import { needsCollectorZone } from '../calendar/calendar.ts';
import { freshStatus } from '../decision/assess-gate.ts';
import type { AccountMark } from '../model/account.ts';
import { countSteady } from '../model/assess-inventory.ts';
import type { FleetSnapshot } from '../model/collector.ts';
import type { PlanGroups } from '../model/plan-groups.ts';
import type { Policy, WaveRule } from '../model/policy.ts';
import type { Rollout, RolloutPlan, Wave } from '../model/rollout.ts';
import { longestChain, type PlannedWave } from './arrange-plan.ts';

/** Who started a rollout and from which inventory, account and config it was planned. */
export interface RolloutOrigin extends Pick<Rollout, 'id' | 'startedBy' | 'createdAt'> {
  /** The inventory behind the plan. */
  readonly fleet: Pick<FleetSnapshot, 'readAt' | 'serviceAt' | 'collectors'>;
  /** The account of that inventory, where it matters. */
  readonly accountMarks?: readonly AccountMark[];
  /** Generation of the config that has the policy, where known. */
  readonly generation?: number | undefined;
}

/** Makes the record of a rollout of which nothing has started. */
export function newRollout(
  { id, startedBy, createdAt, fleet, accountMarks = [], generation = 0 }: RolloutOrigin,
  policy: Policy,
  about: Pick<Rollout, 'kind' | 'state' | 'reason' | 'rollback'> & {
    readonly plan: Omit<RolloutPlan, 'groupsRev' | 'knowsZones' | 'fleetReadAt' | 'fleetSize' | 'drift'>;
    readonly planned: readonly PlannedWave[];
    readonly groups: PlanGroups;
  },
): Rollout {
  const { plan, planned, groups, ...named } = about;
  return {
    ...named,
    id,
    policy,
    config: { generation, changes: 0 },
    startedBy,
    createdAt,
    plan: {
      ...plan,
      groupsRev: 1,
      knowsZones: needsCollectorZone(policy),
      fleetReadAt: fleet.readAt,
      fleetSize: fleet.collectors.length,
      drift: null,
    },
    hold: null,
    waves: policy.waves.map((rule, wave) => {
      const members = planned[wave]?.members ?? [];
      return unopenedWave(rule, { size: members.length, chain: longestChain(members, groups.domains) });
    }),
    strata: { held: [], acknowledged: [], endsWithoutHeld: false },
    inventory: {
      baseline: { at: fleet.readAt, size: countSteady(fleet.collectors), missing: 0 },
      implausible: null,
    },
    endedAt: null,
    accountMarks,
    rev: 1,
  };
}

/** The rule of a wave that takes all collectors and allows no failure, without soak, gates or approval. */
export function plainWave(name: string): WaveRule {
  return {
    name,
    size: { kind: 'percent', percent: 100 },
    soakMs: 0,
    maxFailures: { kind: 'count', count: 0 },
    approval: false,
    gates: [],
  };
}

/** A wave in state `waiting`. */
export function unopenedWave({ name, gates }: WaveRule, { size, chain }: Pick<Wave, 'size' | 'chain'>): Wave {
  return {
    name,
    size,
    chain,
    joined: 0,
    state: 'waiting',
    openedAt: null,
    soakEndsAt: null,
    passedAt: null,
    approvedAt: null,
    soakSkippedAt: null,
    soakCheck: null,
    gates: gates.map(() => freshStatus()),
    acknowledgedWeight: 0,
    acceptedWithoutEvidence: false,
  };
}

/** More builds do not fit one line of the status. */
export const fromBuildsMax = 5;

/** More builds than a service offers at a time. */
export const backToMax = 50;

/** Counts each build, the most frequent first. The result does not depend on the order of the input. */
export function countBuilds(
  builds: readonly string[],
): ReadonlyArray<{ readonly build: string; readonly count: number }> {
  return [...countEach(builds)]
    .map(([build, count]) => ({ build, count }))
    .sort((a, b) => b.count - a.count || (a.build < b.build ? -1 : 1));
}
