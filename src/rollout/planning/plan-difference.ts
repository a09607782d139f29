import { isSameBuild } from '../../base/build-version.ts';
import { groupBy } from '../../base/grouping.ts';
import type { FleetSnapshot } from '../model/collector.ts';
import type { LeftOutKind } from '../model/left-out.ts';
import { isUnderWay, type UpgradeState } from '../model/upgrade.ts';
import type { Plan } from './plan.ts';

/** The rollout that a new plan is compared with. */
export interface ComparedRollout {
  readonly targetBuild: string;
  readonly members: readonly ComparedMember[];
}

/** A collector in that rollout. */
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

/** How a new plan differs from a rollout. */
export interface PlanDifference {
  /** Planned collectors that a rollout started now would upgrade: neither done nor in flight. */
  readonly touched: number;
  readonly done: number;
  readonly inFlight: number;
  readonly added: readonly NamedCollector[];
  /** Members of the rollout that the new plan leaves out, by reason. */
  readonly dropped: ReadonlyArray<{
    readonly kind: LeftOutKind;
    readonly collectors: readonly NamedCollector[];
  }>;
  /** Members still to do that change their wave. */
  readonly moved: ReadonlyArray<{
    readonly from: string;
    readonly to: string;
    readonly collectors: readonly NamedCollector[];
  }>;
  /** Other members of both, such as upgraded ones, which keep their wave. */
  readonly same: number;
}

/**
 * Returns the fleet as it was before a rollout to the same build upgraded anything. Otherwise the rollout's own progress
 * would show as a difference: upgraded collectors would leave the plan, and waves sized in percent would shrink.
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
 * Compares a rollout with a plan made from `undoProgress`, with the rollout's id as seed.
 * @param before undefined if there was no rollout yet, so that everything in the plan is new
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
      // One that is done or in flight stays where it is, also where the new plan has it in another wave.
      else if (member.wave === to || progress !== 'touched') counts.same += 1;
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

/** Groups collectors by the reason they are left out, in order of first occurrence. */
export function groupByKind<Each extends NamedCollector>(
  collectors: readonly Each[],
  kindOf: (collector: Each) => LeftOutKind,
): ReadonlyArray<{ readonly kind: LeftOutKind; readonly collectors: readonly NamedCollector[] }> {
  return [...groupBy(collectors, kindOf)].map(([kind, members]) => ({
    kind,
    collectors: members.map(named),
  }));
}

function progressOf({ state }: ComparedMember): 'done' | 'inFlight' | 'touched' {
  if (state === 'succeeded') return 'done';
  return isUnderWay(state) ? 'inFlight' : 'touched';
}

function named({ id, name }: NamedCollector): NamedCollector {
  return { id, name };
}
