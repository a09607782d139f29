import type { RolloutView } from './rollout.ts';
import { isFailed, type Upgrade } from './upgrade.ts';

/** What failed and why: failures alike in state, message and stratum together, the most frequent first. */
export interface FailureStatus {
  /** How many failed. */
  readonly total: number;
  /** How many of them were looked at, the latest: the groups count these. */
  readonly seen: number;
  /** At most three, and how many failures of those looked at are in none of them. */
  readonly groups: readonly FailureGroup[];
  readonly others: number;
}

export interface FailureGroup {
  readonly state: 'failed' | 'timedOut' | 'unconfirmed';
  readonly reason: string;
  /** Label of their stratum. */
  readonly stratum: string;
  readonly count: number;
  /** The one that failed last. */
  readonly collectorName: string;
}

/** So many are read for a status, in a few milliseconds: enough for any rollout that was not resumed again and again. */
export const failuresSeenMax = 200;

const groupsShownMax = 3;

/** @param upgrades the latest that failed, newest first, at most `failuresSeenMax` */
export function groupFailures(
  { groups: { strata }, waves }: Pick<RolloutView, 'groups' | 'waves'>,
  upgrades: readonly Upgrade[],
): FailureStatus {
  const found = new Map<string, FailureGroup>();
  for (const { state, stratum, collectorName, ...rest } of upgrades) {
    if (!isFailed(state)) continue;
    const reason = 'reason' in rest ? (rest.reason ?? '') : '';
    const key = JSON.stringify([state, stratum, reason]);
    const known = found.get(key);
    const label = strata[stratum]?.label ?? '';
    const group = known ?? { state, reason, stratum: label, count: 0, collectorName };
    found.set(key, { ...group, count: group.count + 1 });
  }
  const all = [...found.values()].sort((a, b) => b.count - a.count);
  const groups = all.slice(0, groupsShownMax);
  const others = all.slice(groupsShownMax);
  return { total: failedOf(waves), seen: sum(all), groups, others: sum(others) };
}

/** How many failed, by what is counted. */
export function failedOf(waves: RolloutView['waves']): number {
  return waves.reduce((total, { counts }) => total + counts.failed + counts.timedOut + counts.unconfirmed, 0);
}

function sum(groups: readonly FailureGroup[]): number {
  return groups.reduce((total, { count }) => total + count, 0);
}
