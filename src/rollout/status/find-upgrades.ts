import { upgradeWords } from '../messages/upgrade-reasons.ts';
import type { Attribute } from '../model/attributes.ts';
import { indexOfStratum, type PlanGroups } from '../model/plan-groups.ts';
import { reasonOf, type Upgrade, type UpgradeState } from '../model/upgrade.ts';
import { failureClassOf } from '../model/upgrade-figures.ts';

/** Which upgrades of a rollout a person asks for. All given parts must match. */
export interface UpgradeFilter {
  /** Any of these. */
  readonly states?: readonly UpgradeState[] | undefined;
  /** Index of a wave. */
  readonly wave?: number | undefined;
  /** Label of a stratum. */
  readonly stratum?: string | undefined;
  /**
   * Words of its reason, in this order; `…` stands for anything, as in the text of a cause. Or the kind of its reason, or its
   * failure class, by name.
   */
  readonly cause?: string | undefined;
  /** Words that its name, id, builds, stratum or caps contain, in any order. */
  readonly match?: string | undefined;
  /** What its collector was like when it was planned: all of these. The search reads nobody else. */
  readonly attributes?: readonly Attribute[] | undefined;
}

/** Separates upgrades that match a filter from the others. Letters match in either case. */
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
    if (
      cause.length > 0 &&
      !isCalled(upgrade, kind) &&
      !containsInOrder(spaced(upgradeWords(upgrade)), cause)
    )
      return false;
    if (words.length === 0) return true;
    const text = textOf(upgrade, groups);
    return words.every((word) => text.includes(word));
  };
}

/** Whether programs know its reason, or its class, by this name. */
function isCalled(upgrade: Upgrade, name: string): boolean {
  return [reasonOf(upgrade)?.kind, failureClassOf(upgrade)].some((each) => each?.toLowerCase() === name);
}

/** True where only counted parts are asked for, so that the counters know how many there are. */
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

function containsInOrder(text: string, parts: readonly string[]): boolean {
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
