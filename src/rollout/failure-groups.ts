import { total } from './gate.ts';
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
  /** `withdrawn` only in a rollback: whoever leaves it stays on the build that it takes back. */
  readonly state: 'failed' | 'timedOut' | 'unconfirmed' | 'withdrawn';
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
  view: Pick<RolloutView, 'rollout' | 'groups' | 'waves'>,
  upgrades: readonly Upgrade[],
): FailureStatus {
  const found = new Map<string, FailureGroup>();
  for (const { state, stratum, collectorName, ...rest } of upgrades) {
    if (!isFailed(state) && state !== 'withdrawn') continue;
    const reason = 'reason' in rest ? (rest.reason ?? '') : '';
    const key = JSON.stringify([state, stratum, reason]);
    const known = found.get(key);
    const label = view.groups.strata[stratum]?.label ?? '';
    const group = known ?? { state, reason, stratum: label, count: 0, collectorName };
    found.set(key, { ...group, count: group.count + 1 });
  }
  const all = [...found.values()].sort((a, b) => b.count - a.count);
  const groups = all.slice(0, groupsShownMax);
  const others = all.slice(groupsShownMax);
  return { total: missedOf(view), seen: sum(all), groups, others: sum(others) };
}

/** How many failed, by what is counted; in a rollback, also how many were withdrawn. */
export function missedOf(view: Pick<RolloutView, 'rollout' | 'waves'>): number {
  return total(view, isFailed) + withdrawnOf(view);
}

/** In a rollback, how many were withdrawn; else they are no failures. */
export function withdrawnOf(view: Pick<RolloutView, 'rollout' | 'waves'>): number {
  return view.rollout.kind === 'rollback' ? total(view, (state) => state === 'withdrawn') : 0;
}

function sum(groups: readonly FailureGroup[]): number {
  return groups.reduce((total, { count }) => total + count, 0);
}
