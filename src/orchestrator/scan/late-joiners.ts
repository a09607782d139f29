import { eachInSteps } from '../../base/steps.ts';
import { makeTurnBudget, runInSlices } from '../../base/turn-budget.ts';
import { joinedText } from '../../rollout/messages/event-texts.ts';
import type { Unread } from '../../rollout/messages/scans.ts';
import type { FleetSnapshot } from '../../rollout/model/collector.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { isRolloutEnd, type Rollout } from '../../rollout/model/rollout.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import type { FrozenRollout } from '../../rollout/planning/freeze-plan.ts';
import type { PlanOptions } from '../../rollout/planning/plan.ts';
import { makeJoinerRule, planJoiners } from '../../rollout/planning/plan-joiners.ts';
import type { Configs } from '../configs/configs.ts';
import type { FleetService } from '../ports/fleet-service.ts';
import type { UpgradeChange } from '../ports/rollout-store.ts';
import type { ChangeRolloutParts } from '../records/change-rollout.ts';
import { type ChangeUpgradeParts, changeOf, changesPerWrite } from '../records/change-upgrade.ts';
import { judgeInventory } from '../watch/judge-inventory.ts';
import type { PlanMemory } from './read-plan.ts';

export interface AddLateJoinersParts extends ChangeRolloutParts, ChangeUpgradeParts {
  readonly fleet: FleetService;
  readonly configs: Pick<Configs, 'check' | 'versionOf'>;
}

type FleetUnread = Extract<Unread, { of: 'fleet' }>['why'];

/**
 * Adds new collectors, and adds withdrawn ones again that are eligible again (DESIGN §4, Late joiners).
 * @returns why the fleet could not be read; undefined if it was
 */
export async function addLateJoiners(
  parts: AddLateJoinersParts,
  policy: Policy,
  before: Rollout,
  memory: PlanMemory,
  signal?: AbortSignal,
): Promise<FleetUnread | undefined> {
  const { id } = before;
  const { targetBuild } = before.plan;
  const fleet = await parts.fleet.readFleet(targetBuild, signal);
  if (!fleet.ok) return fleet.failure;
  // An implausible list is no evidence about the fleet (P14).
  const verdict = await judgeInventory(parts, before, fleet.value);
  if (verdict.kind === 'implausible') return verdict.why;
  const options = await memory.recallCollectors(targetBuild, fleet.value);
  // Reading a fleet takes long, and the rollout continues meanwhile.
  const rollout = await parts.store.loadRollout(id);
  const groups = await parts.store.loadGroups(id);
  if (rollout === undefined || groups === undefined || !acceptsLateJoiners(rollout)) return undefined;
  // A daemon with a newer config may have started meanwhile. Only that daemon may add collectors.
  if ((await parts.configs.check(policy.name)).kind === 'outdated') return undefined;
  const known = await loadKnown(parts, id, fleet.value);
  const joined = await runInSlices(
    planJoiners(rollout, groups, policy, fleet.value, known.ids, options),
    makeTurnBudget(parts.clock),
  );
  if (joined !== null && !(await join(parts, policy, rollout.rev, joined))) return undefined;
  await bringBack(parts, policy, {
    rollout: joined?.rollout ?? rollout,
    fleet: fleet.value,
    withdrawn: known.withdrawn,
    options,
  });
  return undefined;
}

/** Whether a rollout accepts late joiners now. A plan that waits for approval is made again at its approval. */
export function acceptsLateJoiners({ state, unreadable }: Rollout): boolean {
  if (unreadable !== undefined) return false;
  return !isRolloutEnd(state) && state !== 'rollingBack' && state !== 'awaitingApproval';
}

/** @returns the fleet's collectors that have a record, and the records of those that are withdrawn */
async function loadKnown({ store }: AddLateJoinersParts, rolloutId: string, fleet: FleetSnapshot) {
  const withdrawn = await store.listMissed(rolloutId, { kind: 'withdrawn', limit: Number.MAX_SAFE_INTEGER });
  const members = new Set(await store.listMemberIds(rolloutId));
  return {
    ids: new Set(fleet.collectors.flatMap(({ id }) => (members.has(id) ? [id] : []))),
    withdrawn: new Map(withdrawn.map((upgrade) => [upgrade.identity.collectorId, upgrade])),
  };
}

/** @returns false if the rollout has changed meanwhile; the next tick finds the collectors again */
async function join(
  parts: AddLateJoinersParts,
  policy: Policy,
  expectedRev: number,
  joined: FrozenRollout,
): Promise<boolean> {
  const names = joined.upgrades.map(({ identity: { collectorName } }) => collectorName);
  const event = {
    at: parts.clock.now(),
    event: 'rollout.joined',
    policy: policy.name,
    rollout: joined.rollout.id,
    reason: joinedText(names),
    by: 'daemon',
  } as const;
  if ((await parts.store.join({ ...joined, events: [event] }, expectedRev, null)) !== 'saved') return false;
  parts.sink.report(event);
  parts.wakeUps.wake();
  return true;
}

/** Saves only if the rollout is unchanged, because an ended rollout would never start them (P9). */
async function bringBack(
  parts: AddLateJoinersParts,
  policy: Policy,
  context: {
    readonly rollout: Rollout;
    readonly fleet: FleetSnapshot;
    readonly withdrawn: ReadonlyMap<number, Upgrade>;
    readonly options: PlanOptions;
  },
): Promise<void> {
  const { rollout, fleet, withdrawn, options } = context;
  const exclusionOf = makeJoinerRule(rollout, policy, fleet, options);
  const changes: UpgradeChange[] = [];
  const judging = eachInSteps(fleet.collectors, (collector) => {
    const upgrade = withdrawn.get(collector.id);
    if (upgrade?.progress.state !== 'withdrawn' || exclusionOf(collector) !== undefined) return;
    const reason = { kind: 'rejoined', before: upgrade.progress.reason } as const;
    changes.push(changeOf(parts, rollout, upgrade, { kind: 'rejoined', at: parts.clock.now(), reason }));
  });
  await runInSlices(judging, makeTurnBudget(parts.clock));
  let { rev } = rollout;
  for (let from = 0; from < changes.length; from += changesPerWrite) {
    const some = changes.slice(from, from + changesPerWrite);
    const saved = new Set(await parts.store.rejoin(rollout.id, some, rev));
    if (saved.size === 0) continue;
    rev += 1;
    for (const { after, events } of some)
      if (saved.has(after.identity.collectorId)) for (const event of events) parts.sink.report(event);
    parts.wakeUps.wake();
  }
}
