import { upgradeText } from '../messages/upgrade-reasons.ts';
import type { Attribute } from '../model/attributes.ts';
import { indexOfStratum, type PlanGroups } from '../model/plan-groups.ts';
import { reasonOf, type Upgrade, type UpgradeState } from '../model/upgrade.ts';
import { failureClassOf } from '../model/upgrade-figures.ts';

/** Search criteria for upgrades of a rollout. All given criteria must match. */
export interface UpgradeFilter {
  /** Matches any of these. */
  readonly states?: readonly UpgradeState[] | undefined;
  /** Index of a wave. */
  readonly wave?: number | undefined;
  /** Label of a stratum. */
  readonly stratum?: string | undefined;
  /**
   * A part of the reason, where `…` matches anything as in the text of a cause; or the name of the reason's kind or of
   * the failure class.
   */
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
  const cause = partsOf(filter.cause ?? '', /\s*…\s*/u);
  const kind = spaced(filter.cause ?? '');
  const words = partsOf(filter.match ?? '', /\s+/u);
  return (upgrade) => {
    const { identity, progress } = upgrade;
    if (states !== undefined && !states.includes(progress.state)) return false;
    if (wave !== undefined && identity.wave !== wave) return false;
    if (stratum !== undefined && identity.stratum !== stratum) return false;
    if (cause.length > 0 && !isCalled(upgrade, kind) && !containsInOrder(spaced(upgradeText(upgrade)), cause))
      return false;
    if (words.length === 0) return true;
    const text = textOf(upgrade, groups);
    return words.every((word) => text.includes(word));
  };
}

/** Whether this is the name of the kind or failure class of its reason. */
function isCalled(upgrade: Upgrade, name: string): boolean {
  return [reasonOf(upgrade)?.kind, failureClassOf(upgrade)].some((each) => each?.toLowerCase() === name);
}

/** True if the rollout's counters alone can tell how many upgrades match. */
export function isCounted({ stratum, cause, match, attributes }: UpgradeFilter): boolean {
  return [stratum, cause, match, attributes].every((part) => part === undefined);
}

function partsOf(text: string, separator: RegExp): readonly string[] {
  return spaced(text)
    .split(separator)
    .filter((part) => part !== '');
}

function spaced(text: string): string {
  return text.trim().replace(/\s+/gu, ' ').toLowerCase();
}

/** Whether a text has all parts, one after the other. */
export function containsInOrder(text: string, parts: readonly string[]): boolean {
  let from = 0;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return true;
}

function textOf({ identity }: Upgrade, groups: PlanGroups): string {
  const { collectorName, collectorId, fromBuild, toBuild, stratum, domains } = identity;
  const caps = domains.map((index) => groups.domains[index]?.label ?? '');
  const label = groups.strata[stratum]?.label ?? '';
  return [collectorName, collectorId, fromBuild, toBuild, label, ...caps].join('\n').toLowerCase();
}
