import type { Attribute } from '../model/attributes.ts';
import { indexOfStratum, type PlanGroups } from '../model/plan-groups.ts';
import type { Upgrade, UpgradeState } from '../model/upgrade.ts';
import { makeCauseFilter, shownCauseOf } from './failure-filter.ts';

/** Search criteria for upgrades of a rollout. All given criteria must match. */
export interface UpgradeFilter {
  /** Matches any of these. */
  readonly states?: readonly UpgradeState[] | undefined;
  /** Index of a wave. */
  readonly wave?: number | undefined;
  /** Label of a stratum. */
  readonly stratum?: string | undefined;
  /** As `makeCauseFilter` takes it. */
  readonly cause?: string | undefined;
  /** Words that name, id, builds, stratum or caps contain, in any order. */
  readonly match?: string | undefined;
  /** Attributes that the collector had when it was planned; all must match. */
  readonly attributes?: readonly Attribute[] | undefined;
}

/** Makes the test for a filter. Case is ignored. */
export function makeUpgradeMatcher(filter: UpgradeFilter, groups: PlanGroups): (upgrade: Upgrade) => boolean {
  const { states, wave } = filter;
  const stratum = filter.stratum === undefined ? undefined : indexOfStratum(groups.strata, filter.stratum);
  const isOfCause = (filter.cause ?? '').trim() === '' ? undefined : makeCauseFilter(filter.cause ?? '');
  const words = (filter.match ?? '')
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== '');
  return (upgrade) => {
    const { identity, progress } = upgrade;
    if (states !== undefined && !states.includes(progress.state)) return false;
    if (wave !== undefined && identity.wave !== wave) return false;
    if (stratum !== undefined && identity.stratum !== stratum) return false;
    if (isOfCause?.(shownCauseOf(upgrade)) === false) return false;
    if (words.length === 0) return true;
    const text = textOf(upgrade, groups);
    return words.every((word) => text.includes(word));
  };
}

/** True if the rollout's counters alone can tell how many upgrades match. */
export function isCounted({ stratum, cause, match, attributes }: UpgradeFilter): boolean {
  return [stratum, cause, match, attributes].every((part) => part === undefined);
}

function textOf({ identity }: Upgrade, groups: PlanGroups): string {
  const { collectorName, collectorId, fromBuild, toBuild, stratum, domains } = identity;
  const caps = domains.map((index) => groups.domains[index]?.label ?? '');
  const label = groups.strata[stratum]?.label ?? '';
  return [collectorName, collectorId, fromBuild, toBuild, label, ...caps].join('\n').toLowerCase();
}
