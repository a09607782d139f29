import { isSameBuild } from '../base/build-version.ts';
import { hashHex } from '../base/hash.ts';
import { arrangePlan } from './arrange-plan.ts';
import type { FleetCollector } from './collector.ts';
import type { FrozenRollout } from './freeze-plan.ts';
import { backToMax, frequentBuilds } from './frequent-builds.ts';
import type { LeftBehind } from './left-behind.ts';
import { newRollout, type RolloutOrigin } from './new-rollout.ts';
import { pendingUpgrade } from './pending-upgrade.ts';
import { leftOutReasons } from './plan.ts';
import type { Amount, Policy } from './policy.ts';
import type { Rollout } from './rollout.ts';
import type { Upgrade } from './upgrade.ts';

/**
 * Makes the rollout that takes another one back: one wave, each collector to the build it had before, within the limits
 * of the original (DESIGN §4, Rollback). Its `targetBuild` is the most frequent of those builds and only for display;
 * each record has its own. Collectors that left the fleet, or run that build already, are left out.
 * @param who those to take back, and those that can't be
 * @param collectors what the inventory shows now, by id
 */
export function freezeRollback(
  original: Rollout,
  {
    takenBack: upgrades,
    left,
  }: { readonly takenBack: readonly Upgrade[]; readonly left: readonly LeftBehind[] },
  collectors: ReadonlyMap<number, FleetCollector>,
  origin: RolloutOrigin,
): FrozenRollout {
  const { id } = origin;
  const policy = rollbackPolicy(original.policy);
  const toBuilds = new Map<number, string>();
  const chosen: FleetCollector[] = [];
  const leftOut: Record<string, number> = {};
  const leaveOut = (words: string): void => {
    leftOut[words] = (leftOut[words] ?? 0) + 1;
  };
  for (const { collectorId, fromBuild } of upgrades) {
    const collector = collectors.get(collectorId);
    if (collector === undefined) leaveOut('left the fleet');
    else if (isSameBuild(collector.build, fromBuild)) leaveOut(leftOutReasons.atTarget);
    else {
      toBuilds.set(collectorId, fromBuild);
      chosen.push(collector);
    }
  }
  const { waves, groups } = arrangePlan(chosen, policy, id);
  const members = waves.flatMap((wave) => wave.members);
  const plan = members.map((member) => ({ member, toBuild: toBuilds.get(member.collector.id) ?? '' }));
  const backTo = frequentBuilds([...toBuilds.values()], backToMax);
  const [targetBuild] = backTo;
  const rollout = newRollout(origin, policy, {
    kind: 'rollback',
    rollbackOf: original.id,
    targetBuild: targetBuild ?? original.targetBuild,
    fromBuilds: [original.targetBuild],
    backTo,
    leftBehind: left,
    planHash: hashHex(JSON.stringify(plan.map(({ member, toBuild }) => [member.collector.id, toBuild])), 8),
    state: 'running',
    reason: `takes ${original.id} back`,
    leftOut,
    planned: waves,
    groups,
  });
  const records = plan.map(({ member, toBuild }) =>
    pendingUpgrade(member, { wave: 0, toBuild }, { rolloutId: id, fleet: null }),
  );
  return { rollout, upgrades: records, groups };
}

/** The policy of a rollback: one wave, and the limits of the policy that it takes back. */
export function rollbackPolicy(policy: Policy): Policy {
  const none: Amount = { kind: 'count', count: 0 };
  const wave = {
    name: 'rollback',
    size: { kind: 'percent', percent: 100 },
    soakMs: 0,
    maxFailures: policy.waves.at(-1)?.maxFailures ?? none,
    approval: false,
    gates: [],
  } as const;
  return { ...policy, waves: [wave], approval: false, onBreach: 'hold' };
}
