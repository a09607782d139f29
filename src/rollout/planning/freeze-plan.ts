import { eachInSteps, mapInSteps, runAtOnce, type Steps } from '../../base/steps.ts';
import type { EpochMs } from '../../base/time.ts';
import { type AttributeTable, tabulateAttributes } from '../model/attributes.ts';
import { assessHeartbeat, type FleetCollector, type FleetSnapshot } from '../model/collector.ts';
import { countLeftOut } from '../model/left-out.ts';
import type { PlanGroups } from '../model/plan-groups.ts';
import type { Policy } from '../model/policy.ts';
import { noRollback, type Rollout } from '../model/rollout.ts';
import type { Upgrade } from '../model/upgrade.ts';
import { freshTally } from '../model/upgrade-figures.ts';
import type { PlannedMember } from './arrange-plan.ts';
import { countBuilds, fromBuildsMax, newRollout, type RolloutOrigin } from './new-rollout.ts';
import type { Plan } from './plan.ts';

/** A rollout at its beginning, with one record for each planned collector. */
export interface FrozenRollout {
  readonly rollout: Rollout;
  readonly upgrades: readonly Upgrade[];
  readonly groups: PlanGroups;
  readonly attributes: AttributeTable;
}

/** Turns a plan into a rollout. Only late joiners are added to it afterwards (P5). */
export function* freezeInSteps(
  plan: Plan,
  origin: RolloutOrigin & {
    readonly policy: Policy;
    readonly fleet: FleetSnapshot;
    /** The operator who asked for the start, with the reason; absent: nobody did. */
    readonly asked?: { readonly by: string; readonly words: string };
  },
): Steps<FrozenRollout> {
  const { policy, fleet, asked = { by: origin.startedBy, words: '' } } = origin;
  const collectors: FleetCollector[] = [];
  for (const { members } of plan.waves)
    yield* eachInSteps(members, ({ collector }) => void collectors.push(collector));
  const builds = yield* mapInSteps(collectors, ({ build }) => build);
  const from = countBuilds(builds).slice(0, fromBuildsMax);
  const { leftOut: unweighedFields, ...attributes } = yield* tabulateAttributes(collectors);
  const rollout = newRollout(origin, policy, {
    kind: 'upgrade',
    rollback: noRollback,
    plan: {
      hash: plan.hash,
      targetBuild: plan.targetBuild,
      fromBuilds: from.map(({ build }) => build),
      fromCounts: from.map(({ count }) => count),
      leftOut: countLeftOut(plan.leftOut.map(({ kind }) => kind)),
      unweighedFields,
    },
    state: policy.approval ? 'awaitingApproval' : 'running',
    reason: policy.approval ? { kind: 'awaitsApproval' } : { kind: 'asked', ...asked },
    planned: plan.waves,
    groups: plan.groups,
  });
  const upgrades: Upgrade[] = [];
  for (const [wave, { members }] of plan.waves.entries())
    yield* eachInSteps(members, (member) => {
      const to = { wave, toBuild: plan.targetBuild };
      upgrades.push(pendingUpgrade(member, to, { rolloutId: origin.id, fleet }));
    });
  return { rollout, upgrades, groups: plan.groups, attributes };
}

/** `freezeInSteps` in one go, for callers that may block the event loop. */
export function freezePlan(...args: Parameters<typeof freezeInSteps>): FrozenRollout {
  return runAtOnce(freezeInSteps(...args));
}

/** What all records of one plan share. */
export interface UpgradeOrigin {
  readonly rolloutId: string;
  /** The reading in which the service offered these upgrades; null if it was not asked. */
  readonly fleet: Pick<FleetSnapshot, 'readAt' | 'serviceAt' | 'offeredAt' | 'upgradableIds'> | null;
}

/** Makes the record of a planned collector in state `pending`. */
export function pendingUpgrade(
  { collector, order, lane, stratum, domains }: PlannedMember,
  { wave, toBuild }: { readonly wave: number; readonly toBuild: string },
  { rolloutId, fleet: reading }: UpgradeOrigin,
): Upgrade {
  // A collector above the target may be missing from the upgradable list. It may be in another upgrade then (P1).
  const fleet = reading?.upgradableIds.has(collector.id) === true ? reading : null;
  return {
    identity: {
      rolloutId,
      collectorId: collector.id,
      collectorName: collector.name,
      wave,
      order,
      fromBuild: collector.build,
      toBuild,
      lane,
      stratum,
      domains,
      eligibleAt: fleet === null ? 0 : eligibleAtOf(collector.lastSeenAlive, fleet),
      ...(typeof fleet?.offeredAt === 'number' ? { offeredAt: fleet.offeredAt } : {}),
      ...(collector.ephemeral ? { ephemeral: true as const } : {}),
    },
    tally: freshTally,
    progress: pending,
    rev: 1,
  };
}

// Shared by all records of a plan, to save memory.
const pending: Upgrade['progress'] = { state: 'pending' };

/** When the reading showed the collector alive; 0 if it did not (P1). */
function eligibleAtOf(
  lastSeenAlive: EpochMs | undefined,
  fleet: NonNullable<UpgradeOrigin['fleet']>,
): EpochMs {
  return assessHeartbeat(lastSeenAlive, fleet.serviceAt) === 'heard' ? fleet.readAt : 0;
}
