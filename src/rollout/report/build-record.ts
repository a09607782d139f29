import { sumOf } from '../../base/grouping.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { UpgradeFailureClass } from '../../base/vocabulary.ts';
import type { Attribute, Outcomes } from '../model/attributes.ts';
import type { PlanGroups } from '../model/plan-groups.ts';
import type { Rollout } from '../model/rollout.ts';
import { type FailedState, isFailed, type Upgrade } from '../model/upgrade.ts';
import { failureClassOf } from '../model/upgrade-figures.ts';
import { endOnBuild } from './end-on-build.ts';

/** How a failure is counted: by its class, or by its end state if the class is no longer known. */
export type FailureName = UpgradeFailureClass | FailedState;

/** What a build did to some collectors of one rollout. */
export interface BuildFigures {
  /** Upgrades that succeeded or failed, also those that a rollback returned later. Others say nothing about the build. */
  readonly tried: number;
  readonly failed: Readonly<Partial<Record<FailureName, number>>>;
  /** Collectors that came back on the build. */
  readonly returned: number;
  /** Of these, from the first create to the end; null if unknown. */
  readonly medianMs: DurationMs | null;
}

export interface StratumRecord extends BuildFigures {
  readonly label: string;
}

/** What a build did to the collectors that have these attributes, whatever their strata. */
export interface GroupRecord {
  readonly attributes: readonly Attribute[];
  readonly tried: number;
  readonly failed: number;
}

/** What a build did in one ended rollout. It outlives the rollout's own records. */
export interface BuildRecord {
  readonly rolloutId: string;
  readonly policy: string;
  /** The target build. */
  readonly build: string;
  readonly endedAt: EpochMs;
  /** Those with most failures first, then those with most upgrades tried. */
  readonly strata: readonly StratumRecord[];
  /** The sum of the other strata; null: there are none. */
  readonly others: BuildFigures | null;
  /** Those with most failures first. */
  readonly groups: readonly GroupRecord[];
}

/** More strata make a record large, and those with few failures say little. */
export const strataRecordedMax = 50;

interface Group {
  readonly failed: Partial<Record<FailureName, number>>;
  readonly durations: DurationMs[];
  returned: number;
}

/** Adds up the upgrades of an ended rollout page by page, so that the whole fleet is never in memory. */
export function makeBuildTally() {
  const groups = new Map<number, Group>();
  const outcomes = { failed: new Set<number>(), succeeded: new Set<number>() };
  const add = (upgrade: Upgrade): void => {
    const end = endOnBuild(upgrade);
    if (end === undefined) return;
    const { collectorId, stratum } = upgrade.identity;
    const group: Group = groups.get(stratum) ?? { failed: {}, durations: [], returned: 0 };
    groups.set(stratum, group);
    const { firstStartedAt } = upgrade.tally;
    if (isFailed(end.state)) {
      const name = failureClassOf(upgrade) ?? end.state;
      group.failed[name] = (group.failed[name] ?? 0) + 1;
      outcomes.failed.add(collectorId);
    } else {
      outcomes.succeeded.add(collectorId);
      group.returned += 1;
      if (firstStartedAt !== null) group.durations.push(end.at - firstStartedAt);
    }
  };
  /** @param strata of the plan */
  const record = (
    { id, policy, plan }: Pick<Rollout, 'id' | 'policy' | 'plan'>,
    endedAt: EpochMs,
    { strata }: Pick<PlanGroups, 'strata'>,
  ): Omit<BuildRecord, 'groups'> => {
    const all = [...groups].map(([stratum, group]) => ({ label: strata[stratum]?.label, group }));
    all.sort(
      (a, b) => failedIn(b.group.failed) - failedIn(a.group.failed) || triedIn(b.group) - triedIn(a.group),
    );
    const named = all
      .slice(0, strataRecordedMax)
      .flatMap(({ label, group }) => (label === undefined ? [] : [{ label, group }]));
    const rest = all.filter(({ group }) => !named.some((each) => each.group === group));
    return {
      ...{ rolloutId: id, policy: policy.name, build: plan.targetBuild, endedAt },
      strata: named.map(({ label, group }) => ({ label, ...figuresOf(group) })),
      others: rest.length === 0 ? null : figuresOf(joinGroups(rest.map(({ group }) => group))),
    };
  };
  return { add, record, outcomes: outcomes satisfies Outcomes };
}

/** How many of a group failed, in any way. */
export function failedIn(failed: BuildFigures['failed']): number {
  return sumOf(Object.values(failed), (count) => count);
}

function triedIn({ failed, returned }: Pick<Group, 'failed' | 'returned'>): number {
  return failedIn(failed) + returned;
}

function figuresOf(group: Group): BuildFigures {
  const { failed, returned, durations } = group;
  const sorted = durations.toSorted((one, other) => one - other);
  return { tried: triedIn(group), failed, returned, medianMs: sorted[Math.floor(sorted.length / 2)] ?? null };
}

function joinGroups(groups: readonly Group[]): Group {
  const failed: Group['failed'] = {};
  for (const group of groups)
    for (const [name, count] of Object.entries(group.failed) as Array<[FailureName, number]>)
      failed[name] = (failed[name] ?? 0) + count;
  return {
    failed,
    returned: sumOf(groups, (each) => each.returned),
    durations: groups.flatMap((each) => each.durations),
  };
}
