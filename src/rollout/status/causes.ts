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

interface Found {
  readonly kind: Cause['kind'];
  readonly failureClass: Cause['failureClass'];
  tokens: readonly string[];
  count: number;
  readonly strata: Map<number, number>;
  readonly names: string[];
}

function findCauses(view: Pick<RolloutView, 'groups'>, upgrades: readonly Upgrade[]): readonly Cause[] {
  const found = new Map<string, Found>();
  for (const upgrade of upgrades) {
    const { stratum, collectorName } = upgrade.identity;
    const { key, tokens } = readCauseText(upgradeWords(upgrade), collectorName);
    const kind = kindOf(upgrade);
    const failureClass = failureClassOf(upgrade) ?? null;
    const name = JSON.stringify([kind, failureClass, reasonOf(upgrade)?.kind, key]);
    const cause: Found = found.get(name) ?? {
      kind,
      failureClass,
      tokens,
      count: 0,
      strata: new Map(),
      names: [],
    };
    found.set(name, cause);
    cause.tokens = commonTokens(cause.tokens, tokens);
    cause.count += 1;
    cause.strata.set(stratum, (cause.strata.get(stratum) ?? 0) + 1);
    if (cause.names.length < namesShownMax) cause.names.push(collectorName);
  }
  return [...found.values()].sort((a, b) => b.count - a.count).map((cause) => finish(view, cause));
}

function finish({ groups }: Pick<RolloutView, 'groups'>, found: Found): Cause {
  const { kind, failureClass, tokens, count, names } = found;
  const strata = [...found.strata]
    .sort(([, a], [, b]) => b - a)
    .map(([stratum, each]) => ({ label: groups.strata[stratum]?.label ?? '', count: each }));
  const rest = strata.slice(strataShownMax);
  return {
    kind,
    failureClass,
    text: causeWords(tokens),
    count,
    strata: strata.slice(0, strataShownMax),
    otherStrata: { count: sumOf(rest), strata: rest.length },
    names,
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

/**
 * Reads a message for what it has in common with others: numbers, paths, addresses and the collector's own name are left
 * open. The key is the same for all messages of one cause, and the tokens are the same but for those.
 */
function readCauseText(message: string, collectorName: string) {
  const tokens = message
    .slice(0, textReadMax)
    .split(/\s+/u)
    .filter((token) => token !== '');
  return { key: tokens.map((token) => keyOf(token, collectorName)).join(' '), tokens };
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

function keyOf(token: string, collectorName: string): string {
  const core = token.replace(lead, '').replace(trail, '');
  return core === collectorName || isVariable(core) ? anything : token;
}

/** Numbers, versions, ids, paths, addresses, host names of more than one part. */
function isVariable(core: string): boolean {
  return /[\d/\\@]/u.test(core) || /[^.]\.[^.]/u.test(core);
}
