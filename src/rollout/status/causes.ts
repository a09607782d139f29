import type { UpgradeFailureClass } from '../../base/vocabulary.ts';
import { total } from '../decision/assess.ts';
import { upgradeWords } from '../messages/upgrade-reasons.ts';
import type { RolloutView } from '../model/rollout.ts';
import { type failedStates, isFailed, reasonOf, type Upgrade, type UpgradeState } from '../model/upgrade.ts';
import { failureClassOf } from '../model/upgrade-figures.ts';

/** The groups, in the order in which they are shown. */
export const causeGroupNames = ['failed', 'retrying', 'deferred', 'withdrawn'] as const;
export type CauseGroupName = (typeof causeGroupNames)[number];

/** Why upgrades failed, are retried, are deferred, or were withdrawn. `total` is the sum of all that the group has (P9). */
export interface CauseGroup {
  readonly of: CauseGroupName;
  /** By the rollout's counters. */
  readonly total: number;
  /** The most frequent first; a few at most. */
  readonly causes: readonly Cause[];
  readonly others: OtherCauses;
}

/** The upgrades of a group that are in none of its causes. */
export interface OtherCauses {
  readonly count: number;
  /** How many causes those have that were read. */
  readonly causes: number;
  /** How many of `count` were not read: only the latest are. */
  readonly unread: number;
}

/** One cause: alike in kind, class and message, as far as that does not vary from collector to collector. */
export interface Cause {
  readonly kind: (typeof failedStates)[number] | 'retrying' | 'notAlive' | 'inUpgrade' | 'withdrawn';
  /** Of a failure: what `retry` may choose by; null in every other group. */
  readonly failureClass: UpgradeFailureClass | null;
  /** The message; `…` stands for a path, a number or a name that differs. */
  readonly text: string;
  readonly count: number;
  /** By label, the most frequent first; a few at most. */
  readonly strata: readonly { readonly label: string; readonly count: number }[];
  readonly otherStrata: { readonly count: number; readonly strata: number };
  /** Of some collectors; of failures, the latest. */
  readonly names: readonly string[];
}

/** Upgrades by the group they belong to, at most `causesReadMax` each, failed and withdrawn ones newest first. */
export type CauseUpgrades = Readonly<Partial<Record<CauseGroupName, readonly Upgrade[]>>>;

/** So many of a group are read for a status, in a few milliseconds. */
export const causesReadMax = 200;

const causesShownMax = 5;
const strataShownMax = 3;
const namesShownMax = 3;

/** How many upgrades a group has, by what is counted. */
export function countOfGroup(view: Pick<RolloutView, 'waves'>, of: CauseGroupName): number {
  return total(view, (state) => groupOf(state) === of);
}

/** Groups what is not well by cause. */
export function groupCauses(
  view: Pick<RolloutView, 'waves' | 'groups'>,
  upgrades: CauseUpgrades,
): readonly CauseGroup[] {
  return causeGroupNames.flatMap((of) => {
    const count = countOfGroup(view, of);
    if (count === 0) return [];
    // Counters and records are read one after the other: those that came in between are the newest.
    const members = (upgrades[of] ?? []).filter(({ progress: { state } }) => groupOf(state) === of);
    const read = members.slice(Math.max(0, members.length - count));
    const found = findCauses(view, read);
    const causes = found.slice(0, causesShownMax);
    const others = found.slice(causesShownMax);
    const unread = count - read.length;
    const rest = { count: sumOf(others) + unread, causes: others.length, unread };
    return [{ of, total: count, causes, others: rest }];
  });
}

function findCauses(view: Pick<RolloutView, 'groups'>, upgrades: readonly Upgrade[]): readonly Cause[] {
  const alike = new Map<string, { readonly first: Upgrade; readonly members: Upgrade[] }>();
  for (const upgrade of upgrades) {
    const { collectorName } = upgrade.identity;
    const words = tokensOf(upgrade).map((token) => keyOf(token, collectorName));
    const key = JSON.stringify([kindOf(upgrade), failureClassOf(upgrade), reasonOf(upgrade)?.kind, ...words]);
    const { first, members } = alike.get(key) ?? { first: upgrade, members: [] };
    members.push(upgrade);
    alike.set(key, { first, members });
  }
  return [...alike.values()]
    .sort((a, b) => b.members.length - a.members.length)
    .map(({ first, members }) => causeOf(view, first, members));
}

function causeOf(
  { groups }: Pick<RolloutView, 'groups'>,
  first: Upgrade,
  members: readonly Upgrade[],
): Cause {
  const counts = new Map<number, number>();
  for (const { identity } of members) counts.set(identity.stratum, (counts.get(identity.stratum) ?? 0) + 1);
  const strata = [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([stratum, count]) => ({ label: groups.strata[stratum]?.label ?? '', count }));
  const rest = strata.slice(strataShownMax);
  return {
    kind: kindOf(first),
    failureClass: failureClassOf(first) ?? null,
    text: causeWords(members.map(tokensOf).reduce(commonTokens)),
    count: members.length,
    strata: strata.slice(0, strataShownMax),
    otherStrata: { count: sumOf(rest), strata: rest.length },
    names: members.slice(0, namesShownMax).map(({ identity }) => identity.collectorName),
  };
}

function sumOf(parts: readonly { readonly count: number }[]): number {
  return parts.reduce((sum, { count }) => sum + count, 0);
}

function groupOf(state: UpgradeState): CauseGroupName | undefined {
  if (isFailed(state)) return 'failed';
  return state === 'retrying' || state === 'deferred' || state === 'withdrawn' ? state : undefined;
}

function kindOf(upgrade: Upgrade): Cause['kind'] {
  if (upgrade.progress.state === 'deferred') return upgrade.progress.condition;
  if (upgrade.progress.state === 'retrying' || isFailed(upgrade.progress.state))
    return upgrade.progress.state;
  return 'withdrawn';
}

/** Shown where texts of one cause differ. */
const anything = '…';

// A message may be as long as the service likes; causes differ in their first words.
const textReadMax = 400;
const textShownMax = 160;

/** The words of its message. */
function tokensOf(upgrade: Upgrade): readonly string[] {
  return upgradeWords(upgrade)
    .slice(0, textReadMax)
    .split(/\s+/u)
    .filter((token) => token !== '');
}

/** The tokens that two messages of one cause share; what differs is left open. */
function commonTokens(a: readonly string[], b: readonly string[]): readonly string[] {
  return a.map((token, index) => (token === b[index] ? token : anything));
}

/** The text of a cause for a person. Adjoining open parts are one. */
function causeWords(tokens: readonly string[]): string {
  const words = tokens
    .filter((token, index) => token !== anything || tokens[index - 1] !== anything)
    .join(' ');
  return words.length <= textShownMax ? words : `${words.slice(0, textShownMax - 1)}${anything}`;
}

const lead = /^[([{"'`<]+/u;
const trail = /[)\]}"'`>,.;:!?]+$/u;

/** What is the same in all messages of one cause: numbers, paths, addresses and the collector's own name are left open. */
function keyOf(token: string, collectorName: string): string {
  const core = token.replace(lead, '').replace(trail, '');
  return core === collectorName || isVariable(core) ? anything : token;
}

/** Numbers, versions, ids, paths, addresses, host names of more than one part. */
function isVariable(core: string): boolean {
  return /[\d/\\@]/u.test(core) || /[^.]\.[^.]/u.test(core);
}
