import type { EpochMs } from '../base/time.ts';
import type { AccountMark } from './account.ts';
import type { PlannedWave } from './arrange-plan.ts';
import { countSteady } from './assess-inventory.ts';
import { longestChain } from './chain.ts';
import type { FleetSnapshot } from './collector.ts';
import { freshStanding } from './gate-standing.ts';
import type { PlanGroups } from './plan-groups.ts';
import type { Policy, WaveRule } from './policy.ts';
import type { Rollout, Wave } from './rollout.ts';

/** Where a rollout comes from. */
export interface RolloutOrigin {
  readonly id: string;
  readonly startedBy: string;
  readonly createdAt: EpochMs;
  /** The inventory behind the plan. */
  readonly fleet: Pick<FleetSnapshot, 'readAt' | 'serviceAt' | 'collectors'>;
  /** The account whose inventory that is, where it is known. */
  readonly accountMarks?: readonly AccountMark[] | undefined;
  /** Of the config whose policy that is, where it is known. */
  readonly generation?: number | undefined;
}

/** A rollout before anything of it has begun. */
export function newRollout(
  { id, startedBy, createdAt, fleet, accountMarks, generation }: RolloutOrigin,
  policy: Policy,
  about: Pick<
    Rollout,
    | 'kind'
    | 'rollbackOf'
    | 'targetBuild'
    | 'backTo'
    | 'leftBehind'
    | 'fromBuilds'
    | 'planHash'
    | 'state'
    | 'reason'
    | 'leftOut'
  > & {
    readonly planned: readonly PlannedWave[];
    readonly groups: PlanGroups;
  },
): Rollout {
  const { planned, groups, ...named } = about;
  return {
    ...named,
    id,
    rollbackId: null,
    policy,
    groupsRev: 1,
    startedBy,
    createdAt,
    fleetReadAt: fleet.readAt,
    fleetSize: fleet.collectors.length,
    inventory: { at: fleet.readAt, size: countSteady(fleet.collectors), missing: 0 },
    waves: policy.waves.map((rule, wave) => {
      const members = planned[wave]?.members ?? [];
      return unopenedWave(rule, { size: members.length, chain: longestChain(members, groups.domains) });
    }),
    heldStrata: [],
    acknowledgedStrata: [],
    endsWithoutHeld: false,
    drift: null,
    endedAt: null,
    rev: 1,
    ...(accountMarks === undefined ? {} : { accountMarks }),
    ...(generation === undefined ? {} : { config: { generation, changes: 0 } }),
  };
}

/** A wave that nobody has entered. */
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
    gates: gates.map(() => freshStanding()),
    acknowledgedWeight: 0,
    acceptedWithoutEvidence: false,
  };
}
