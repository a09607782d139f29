import { groupBy, mostFrequent, sumOf } from '../../base/grouping.ts';
import type { Cause, CauseGroup } from '../../contract/admin/rollout-status.ts';
import { countUpgradesIn } from '../decision/assess.ts';
import { upgradeReasonText, upgradeText } from '../messages/upgrade-reasons.ts';
import type { RolloutView } from '../model/rollout.ts';
import { isFailed, reasonOf, type Upgrade, type UpgradeState } from '../model/upgrade.ts';
import { failureBefore, failureClassOf, failureIn } from '../model/upgrade-figures.ts';
import { turnReasonKinds } from '../model/upgrade-reason.ts';

/** The groups in display order. */
const causeGroupNames = ['failed', 'retrying', 'deferred', 'withdrawn'] as const;
export type CauseGroupName = CauseGroup['of'];

/** Upgrades by group, at most `causesReadMax` each; failed and withdrawn upgrades newest first. */
export type CauseUpgrades = Readonly<Partial<Record<CauseGroupName, readonly Upgrade[]>>> & {
  /** Upgrades in flight. Those whose last attempt failed are evidence, as while they waited for the next one. */
  readonly inFlight?: readonly Upgrade[];
};

/** How many upgrades of a group are read for a status. This takes a few milliseconds. */
export const causesReadMax = 200;

const causesShownMax = 5;
const strataShownMax = 3;
const namesShownMax = 3;

/** How many upgrades a group has, by the rollout's counters. */
export function countOfGroup(view: Pick<RolloutView, 'waves'>, group: CauseGroupName): number {
  return countUpgradesIn(view, (state) => groupOf(state) === group);
}

/** Groups failed, retrying, deferred and withdrawn upgrades by cause. */
export function groupCauses(
  view: Pick<RolloutView, 'waves' | 'groups'>,
  upgrades: CauseUpgrades,
): readonly CauseGroup[] {
  return causeGroupNames.flatMap((group) => {
    const count = countOfGroup(view, group);
    if (count === 0) return [];
    // Counters are read before records. Records that were added in between are the newest, and are dropped.
    const members = (upgrades[group] ?? []).filter(({ progress: { state } }) => groupOf(state) === group);
    const read = members.slice(Math.max(0, members.length - count));
    const shown = group === 'retrying' ? read.filter((upgrade) => !isPutBack(upgrade)) : read;
    const found = findCauses(view, shown);
    const causes = found.slice(0, causesShownMax);
    const others = found.slice(causesShownMax);
    const unread = count - read.length;
    const rest = {
      count: sumOf(others, (each) => each.count) + read.length - shown.length + unread,
      causes: others.length,
      unread,
    };
    return [{ of: group, total: count, causes, others: rest }];
  });
}

/** The collectors whose failures have one cause. */
export interface CauseMembers {
  /** `retrying`: some of them are retried. */
  readonly of: 'failed' | 'retrying';
  readonly text: string;
  readonly collectorIds: readonly number[];
  /** How many of them are not retried. */
  readonly ended: number;
}

/** Failures by cause, together with failed attempts that are retried. The most frequent first. */
export function membersByCause({
  failed = [],
  retrying = [],
  inFlight = [],
}: CauseUpgrades): readonly CauseMembers[] {
  const attempts = [...failed, ...retrying, ...inFlight.flatMap(beforeThisAttempt)].filter(isFailedAttempt);
  return [...groupBy(attempts, reasonKey).values()]
    .map((members) => ({
      of: members.some(({ progress }) => progress.state === 'retrying')
        ? ('retrying' as const)
        : ('failed' as const),
      text: causeText(members),
      collectorIds: members.map(({ identity }) => identity.collectorId),
      ended: members.filter(({ progress }) => isFailed(progress.state)).length,
    }))
    .sort((a, b) => b.collectorIds.length - a.collectorIds.length);
}

/** The upgrade as it waited for its present attempt, where the one before failed. */
function beforeThisAttempt(upgrade: Upgrade): readonly Upgrade[] {
  const ended = upgrade.tally.tasks?.findLast((attempt) => attempt.ended !== undefined)?.ended;
  if (ended?.reason === undefined || !(ended.state === 'retrying' || isFailed(ended.state))) return [];
  return [{ ...upgrade, progress: { state: 'retrying', dueAt: ended.at, reason: ended.reason } }];
}

const notFailedKinds: ReadonlySet<string | undefined> = new Set(['waited', 'rejoined', 'retryAsked']);

function isFailedAttempt(upgrade: Upgrade): boolean {
  return !isPutBack(upgrade) && !notFailedKinds.has(reasonOf(upgrade)?.kind);
}

const putBackKinds: ReadonlySet<string | undefined> = new Set(turnReasonKinds);

/** True if its last turn ended before its create was sent, for a hold or a window. It is no cause of a retry. */
function isPutBack(upgrade: Upgrade): boolean {
  return putBackKinds.has(reasonOf(upgrade)?.kind);
}

function findCauses(view: Pick<RolloutView, 'groups'>, upgrades: readonly Upgrade[]): readonly Cause[] {
  const alike = groupBy(upgrades, causeKey);
  return [...alike.values()]
    .sort((a, b) => b.length - a.length)
    .flatMap((members) => (members[0] === undefined ? [] : [causeOf(view, members[0], members)]));
}

function causeOf(
  { groups }: Pick<RolloutView, 'groups'>,
  first: Upgrade,
  members: readonly Upgrade[],
): Cause {
  const strata = mostFrequent(members.map(({ identity }) => identity.stratum)).map(([stratum, count]) => ({
    label: groups.strata[stratum]?.label ?? '',
    count,
  }));
  const rest = strata.slice(strataShownMax);
  return {
    kind: kindOf(first),
    failureClass: failureClassOf(first) ?? null,
    text: causeText(members),
    count: members.length,
    strata: strata.slice(0, strataShownMax),
    otherStrata: { count: sumOf(rest, (each) => each.count), strata: rest.length },
    names: members.slice(0, namesShownMax).map(({ identity }) => identity.collectorName),
  };
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

/** Placeholder for the parts in which the texts of one cause differ. */
const anything = '…';

// The service does not limit the length of a message, and causes differ in their first words.
const textReadMax = 400;
const textShownMax = 160;

/** What upgrades of one cause share: kind, class and the data of the reason, without figures and variable parts of texts. */
function causeKey(upgrade: Upgrade): string {
  return JSON.stringify([kindOf(upgrade), failureClassOf(upgrade), reasonKey(upgrade)]);
}

/** Alike for a failure and an attempt that is retried, whose classes differ. */
function reasonKey(upgrade: Upgrade): string {
  const { collectorName } = upgrade.identity;
  const reason = reasonOf(upgrade);
  return JSON.stringify([reason && failureIn(reason), failureBefore(upgrade)], (_name, value: unknown) => {
    if (typeof value === 'number') return 0;
    return typeof value === 'string' ? textKey(value, collectorName) : value;
  });
}

/** A text of the service or of an operator, without numbers, paths, addresses and the collector's own name. */
function textKey(text: string, collectorName: string): string {
  const words = wordsOf(text).map((word) => {
    const core = word.replace(lead, '').replace(trail, '');
    return core === collectorName || isVariable(core) ? anything : word;
  });
  return words.join(' ');
}

const lead = /^[([{"'`<]+/u;
const trail = /[)\]}"'`>,.;:!?]+$/u;

/** Numbers, versions, ids, paths, addresses, host names of more than one part. */
function isVariable(core: string): boolean {
  return /[\d/\\@]/u.test(core) || /[^.]\.[^.]/u.test(core);
}

/** The sentence of a cause, shortened by what differs between its upgrades. */
function causeText(members: readonly Upgrade[]): string {
  const shared = members
    .map((upgrade) => wordsOf(failureText(upgrade)))
    .reduce((a, b) => a.map((word, index) => (word === b[index] ? word : anything)));
  const text = shared.filter((word, index) => word !== anything || shared[index - 1] !== anything).join(' ');
  return text.length <= textShownMax ? text : `${text.slice(0, textShownMax - 1)}${anything}`;
}

function failureText(upgrade: Upgrade): string {
  const reason = reasonOf(upgrade);
  if (reason?.kind === 'attemptsSpent') return upgradeReasonText(reason.last);
  // Who asked for the retry would hide why it is needed.
  const retried = reason?.kind === 'retryAsked' ? failureBefore(upgrade) : undefined;
  return retried === undefined ? upgradeText(upgrade) : upgradeReasonText(retried);
}

function wordsOf(text: string): readonly string[] {
  return text
    .slice(0, textReadMax)
    .split(/\s+/u)
    .filter((word) => word !== '');
}
