import { compareBuildVersions } from '../base/build-version.ts';
import type { FleetSnapshot } from '../rollout/collector.ts';
import { makeJudge, type PlanOptions } from '../rollout/plan.ts';
import { planJoiners } from '../rollout/plan-joiners.ts';
import type { Policy } from '../rollout/policy.ts';
import { isRolloutEnd, type Rollout } from '../rollout/rollout.ts';
import { chooseTarget, isOffered } from '../rollout/target.ts';
import type { Upgrade } from '../rollout/upgrade.ts';
import { type ChangeRolloutParts, changeRollout, holdRollout } from './change-rollout.ts';
import { type ChangeUpgradeParts, recordFact } from './change-upgrade.ts';
import type { Build, FleetService } from './ports.ts';
import type { PlanMemory } from './read-plan.ts';

export interface CheckActiveParts extends ChangeRolloutParts, ChangeUpgradeParts {
  readonly fleet: FleetService;
}

/**
 * Looks after a rollout that is on its way, at each tick of the schedule: it keeps its pinned build and holds when that
 * is withdrawn (P6), ends for a newer one only where the policy says so, and takes in late joiners.
 */
export async function checkActive(
  parts: CheckActiveParts,
  policy: Policy,
  rolloutId: string,
  memory: PlanMemory,
  signal?: AbortSignal,
): Promise<void> {
  const rollout = await parts.store.loadRollout(rolloutId);
  if (rollout === undefined || isRolloutEnd(rollout.state) || rollout.state === 'rollingBack') return;
  const builds = await parts.fleet.listBuilds(signal);
  if (!builds.ok) return;
  if (await supersede(parts, policy, rollout, builds.value, memory)) return;
  if (!isOffered(rollout.targetBuild, builds.value)) {
    await holdRollout(parts, rolloutId, `build ${rollout.targetBuild} is no longer offered by the service`);
    return;
  }
  // A plan that waits for approval is made anew when it is approved.
  if (rollout.state !== 'awaitingApproval') await takeIn(parts, policy, rollout, memory, signal);
}

/** Ends a rollout for a newer build, where the policy wants that. */
async function supersede(
  parts: CheckActiveParts,
  policy: Policy,
  rollout: Rollout,
  builds: readonly Build[],
  memory: PlanMemory,
): Promise<boolean> {
  if (!policy.target.supersede || !isSupersedable(rollout)) return false;
  const { seen, held } = await memory.recallBuilds(builds.map(({ version }) => version));
  const target = chooseTarget(policy.target, builds, seen, held);
  if (target.kind === 'none') return false;
  if ((compareBuildVersions(target.build, rollout.targetBuild) ?? 0) <= 0) return false;
  const reason = `build ${target.build} is out, and the policy takes it up at once`;
  let did = false;
  await changeRollout(parts, rollout.id, 'daemon', ({ rollout: current }) => {
    did = isSupersedable(current);
    return did ? { kind: 'superseded', at: parts.clock.now(), reason } : undefined;
  });
  return did;
}

/** One that a person or a breach has stopped waits for a word (P4), and a way back is finished first. */
function isSupersedable({ kind, state }: Rollout): boolean {
  return kind === 'upgrade' && (state === 'running' || state === 'awaitingApproval');
}

/** Adds collectors that are new, and brings back those that had left and are eligible again (DESIGN §4, Late joiners). */
async function takeIn(
  parts: CheckActiveParts,
  policy: Policy,
  rollout: Rollout,
  memory: PlanMemory,
  signal?: AbortSignal,
): Promise<void> {
  const groups = await parts.store.loadGroups(rollout.id);
  const fleet = await parts.fleet.readFleet(rollout.targetBuild, signal);
  if (!fleet.ok || groups === undefined) return;
  const options = await memory.recallCollectors(rollout.targetBuild, fleet.value);
  const known = await loadKnown(parts, rollout, fleet.value);
  await bringBack(parts, policy, { rollout, fleet: fleet.value, known, options });
  const joined = planJoiners(rollout, groups, policy, fleet.value, new Set(known.keys()), options);
  if (joined === null) return;
  const names = joined.upgrades.slice(0, namesShown).map(({ collectorName }) => collectorName);
  const more = joined.upgrades.length > namesShown ? ', …' : '';
  const event = {
    at: parts.clock.now(),
    event: 'rollout.joined',
    policy: policy.name,
    rollout: rollout.id,
    reason: `${joined.upgrades.length} late joiners: ${names.join(', ')}${more}`,
    by: 'daemon',
  } as const;
  // Stale: the rollout moved on meanwhile; the next tick finds them again.
  if ((await parts.store.join({ ...joined, events: [event] }, rollout.rev, null)) !== 'saved') return;
  parts.sink.tell(event);
  parts.bell.ring();
}

const namesShown = 5;
const idsPerRead = 1_000;

async function loadKnown(
  parts: CheckActiveParts,
  rollout: Rollout,
  fleet: FleetSnapshot,
): Promise<ReadonlyMap<number, Upgrade>> {
  const known = new Map<number, Upgrade>();
  const ids = fleet.collectors.map(({ id }) => id);
  for (let from = 0; from < ids.length; from += idsPerRead) {
    for (const upgrade of await parts.store.loadUpgrades(rollout.id, ids.slice(from, from + idsPerRead)))
      known.set(upgrade.collectorId, upgrade);
  }
  return known;
}

async function bringBack(
  parts: CheckActiveParts,
  policy: Policy,
  of: {
    readonly rollout: Rollout;
    readonly fleet: FleetSnapshot;
    readonly known: ReadonlyMap<number, Upgrade>;
    readonly options: PlanOptions;
  },
): Promise<void> {
  const { rollout, fleet, known, options } = of;
  const judge = makeJudge(policy, rollout.targetBuild, fleet.upgradableIds, options);
  for (const collector of fleet.collectors) {
    const upgrade = known.get(collector.id);
    if (upgrade?.state !== 'withdrawn' || judge(collector) !== undefined) continue;
    const reason = `is back: ${upgrade.reason}`;
    await recordFact(parts, rollout, upgrade, { kind: 'rejoined', at: parts.clock.now(), reason });
  }
}
