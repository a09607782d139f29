import { isSameBuild } from '../../base/build-version.ts';
import type { FleetSnapshot } from '../model/collector.ts';
import type { LeftOutKind } from '../model/left-out.ts';
import { isUnderWay, type UpgradeState } from '../model/upgrade.ts';
import type { Plan } from './plan.ts';

/** A rollout that a fresh plan is compared with. */
export interface ComparedRollout {
  readonly targetBuild: string;
  readonly members: readonly ComparedMember[];
}

/** A collector as that rollout has it. */
export interface ComparedMember extends NamedCollector {
  /** The name of its wave. */
  readonly wave: string;
  readonly fromBuild: string;
  readonly state: UpgradeState;
}

export interface NamedCollector {
  readonly id: number;
  readonly name: string;
}

/** What a fresh plan has otherwise than a rollout. */
export interface PlanDifference {
  /** Collectors that a rollout started now would upgrade: members that are not done and not in flight already. */
  readonly touched: number;
  readonly done: number;
  readonly inFlight: number;
  readonly added: readonly NamedCollector[];
  /** Members of the rollout that the plan leaves out, by reason. */
  readonly dropped: ReadonlyArray<{
    readonly kind: LeftOutKind;
    readonly collectors: readonly NamedCollector[];
  }>;
  /** Members whose wave is another one. */
  readonly moved: ReadonlyArray<{
    readonly from: string;
    readonly to: string;
    readonly collectors: readonly NamedCollector[];
  }>;
  /** Members that keep their wave. */
  readonly same: number;
}

/**
 * The fleet as if a rollout to the same build had upgraded nobody yet. Without this, its own success would look like a
 * change: collectors on the target build leave the plan, and waves sized in percents shrink.
 */
export function undoProgress(
  fleet: FleetSnapshot,
  targetBuild: string,
  { members, ...rollout }: ComparedRollout,
): FleetSnapshot {
  if (!isSameBuild(rollout.targetBuild, targetBuild)) return fleet;
  const done = members.filter((member) => progressOf(member) !== 'touched');
  const reached = new Map(done.map((member) => [member.id, member]));
  const collectors = fleet.collectors.map((collector) => {
    const member = reached.get(collector.id);
    return member === undefined ? collector : { ...collector, build: member.fromBuild, alive: true };
  });
  return { ...fleet, collectors, upgradableIds: new Set([...fleet.upgradableIds, ...reached.keys()]) };
}

/**
 * Compares a rollout with a plan that was made from `undoProgress`, by the id of that rollout as its seed.
 * @param before undefined: there was no rollout yet, so all of the plan is new
 */
export function comparePlan(before: ComparedRollout | undefined, plan: Plan): PlanDifference {
  const isSameTarget = before !== undefined && isSameBuild(before.targetBuild, plan.targetBuild);
  const members = new Map(before?.members.map((member) => [member.id, member]));
  const added: NamedCollector[] = [];
  const moved = new Map<string, { from: string; to: string; collectors: NamedCollector[] }>();
  const counts = { touched: 0, done: 0, inFlight: 0, same: 0 };
  for (const { name: to, members: planned } of plan.waves) {
    for (const { collector } of planned) {
      const member = members.get(collector.id);
      const progress = isSameTarget && member !== undefined ? progressOf(member) : 'touched';
      counts[progress] += 1;
      if (member === undefined) added.push(named(collector));
      else if (member.wave === to) counts.same += 1;
      else {
        const key = JSON.stringify([member.wave, to]);
        const move = moved.get(key) ?? { from: member.wave, to, collectors: [] };
        move.collectors.push(named(collector));
        moved.set(key, move);
      }
      members.delete(collector.id);
    }
  }
  const whyOut = new Map(plan.leftOut.map(({ collector, kind }) => [collector.id, kind]));
  const dropped = groupByKind([...members.values()], ({ id }) => whyOut.get(id) ?? 'leftFleet');
  return { ...counts, added, dropped, moved: [...moved.values()] };
}

/** Collectors by the reason for which they are left out, in the order in which the reasons come first. */
export function groupByKind<Each extends NamedCollector>(
  collectors: readonly Each[],
  kindOf: (collector: Each) => LeftOutKind,
): ReadonlyArray<{ readonly kind: LeftOutKind; readonly collectors: readonly NamedCollector[] }> {
  const groups = new Map<LeftOutKind, NamedCollector[]>();
  for (const collector of collectors) {
    const group = groups.get(kindOf(collector)) ?? [];
    group.push(named(collector));
    groups.set(kindOf(collector), group);
  }
  return [...groups].map(([kind, of]) => ({ kind, collectors: of }));
}

function progressOf({ state }: ComparedMember): 'done' | 'inFlight' | 'touched' {
  if (state === 'succeeded') return 'done';
  return isUnderWay(state) ? 'inFlight' : 'touched';
}

function named({ id, name }: NamedCollector): NamedCollector {
  return { id, name };
}
