import { formatDuration } from '../../base/time.ts';
import type { LeftBehindKind } from '../../base/vocabulary.ts';
import type { ShownLeftBehind, ShownLeftOut } from '../../contract/admin/status-parts.ts';
import type { LeftBehind, LeftBehindCollector, LeftBehindReason } from '../model/left-behind.ts';
import type { LeftOutCount, LeftOutKind, NoTarget } from '../model/left-out.ts';
import type { EmptyMatch, SelectionRule } from '../planning/selector.ts';
import { counted, makeText } from './sentences.ts';
import { upgradeReasonText } from './upgrade-reasons.ts';

/** Why a collector is left out of a plan. */
export const leftOutText: Readonly<Record<LeftOutKind, string>> = {
  notSelected: 'not selected',
  excluded: 'excluded',
  notInShare: 'outside the share of the policy',
  notAsked: 'not asked for',
  atTarget: 'runs the target build already',
  newer: 'runs a newer build, and downgrades are not allowed',
  held: 'held by an operator',
  claimed: 'is in the rollout of another policy',
  failedBefore: 'failed in an earlier rollout of this build',
  notAlive: 'not alive',
  notOffered: 'the service does not offer it this upgrade (in an upgrade, or too old)',
  leftFleet: 'left the fleet',
};

export function showLeftOut(counts: readonly LeftOutCount[]): readonly ShownLeftOut[] {
  return counts.map(({ kind, count }) => ({ kind, reason: leftOutText[kind], count }));
}

/** The policy's own selection leaves the collector out. */
export const unselectedReasons: ReadonlySet<LeftOutKind> = new Set(['notSelected', 'excluded', 'notInShare']);

/** Whether an empty plan selects no collector at all. A script has to see it: most often a word of the selection is misspelled. */
export function selectsNobody(leftOut: ReadonlyArray<{ readonly kind: LeftOutKind }>): boolean {
  return leftOut.every(({ kind }) => unselectedReasons.has(kind));
}

/** `not alive: 3 · excluded: 1`; empty if no collector is left out. */
export function leftOutLine(groups: readonly ShownLeftOut[]): string {
  return groups.map(({ reason, count }) => `${reason}: ${count}`).join(' · ');
}

export const emptyInventoryText =
  'the inventory holds no installed collector: check that the access key may see collectors, and the base URL';

/**
 * Why a plan is empty: no collector exists, none is selected, or none can be upgraded now.
 * @param part the part of the selection that matches nothing, where the collectors are known
 */
export function nobodyPlannedText(
  {
    targetBuild,
    leftOut,
  }: {
    readonly targetBuild: string;
    readonly leftOut: ReadonlyArray<{ readonly kind: LeftOutKind }>;
  },
  part?: EmptyMatch,
): string {
  if (leftOut.length === 0) return emptyInventoryText;
  if (selectsNobody(leftOut))
    return `the policy matches nothing: none of the ${leftOut.length} installed collectors is selected; ${part === undefined ? 'check select in the policy' : emptyMatchText(part)}`;
  return `no collector can be upgraded to ${targetBuild} now`;
}

/** The part of a selection that matches nothing, as a clause. */
export const emptyMatchText = makeText<EmptyMatch>({
  key: ({ rule }) => `no collector matches ${ruleText(rule)}`,
  together: ({ rules }) =>
    `each key of select.include matches collectors, but no collector matches all: ${rules.map(ruleText).join(', ')}`,
  excluded: ({ included }) => `select.exclude leaves out all ${included} that select.include matches`,
  share: ({ included }) => `select.share leaves out all ${included} that match`,
});

/** A rule as in the config: `select.exclude[1] {name: "db-primary-*"}`. */
export function ruleText({ path, rule }: SelectionRule): string {
  return `${path} ${valueText(rule)}`;
}

function valueText(value: unknown): string {
  if (Array.isArray(value))
    return value.length === 1 ? valueText(value[0]) : `[${value.map(valueText).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, each]) => `${key}: ${valueText(each)}`);
  return `{${entries.join(', ')}}`;
}

/** Why a policy has no target build. */
export const noTargetText = makeText<NoTarget>({
  noLatest: () => 'the service marks no build as the latest',
  notOffered: ({ build }) => `the service does not offer build ${build}`,
  buildHeld: ({ build, reason }) =>
    `build ${build} is held: ${reason}; to use it, run upwave release ${build}`,
  tooNew: ({ build, since, ageMs, notBefore }) => {
    const [known, due] = [since, notBefore].map((at) => new Date(at).toISOString());
    return `build ${build} has been known since ${known}, and will be ${formatDuration(ageMs)} old at ${due}`;
  },
});

const leftBehindShownMax = 3;

export function showLeftBehind({ why, count, some }: LeftBehind): ShownLeftBehind {
  const names = some.slice(0, leftBehindShownMax).map(leftCollectorText);
  return { kind: why.kind, reason: leftBehindText(why), count, names };
}

/** Who stays after a rollback, for each reason: `17 stay on 19.536-4: the service no longer offers …`. */
export function stayTexts(
  build: string,
  left: ReadonlyArray<Pick<ShownLeftBehind, 'count' | 'reason'>>,
): readonly string[] {
  return left.map(({ count, reason }) => `${counted(count, 'stays', 'stay')} on ${build}: ${reason}`);
}

/** Why collectors are not rolled back. */
export const leftBehindText = makeText<LeftBehindReason, LeftBehindKind>({
  unknown: () => 'the service no longer knows them (404)',
  notListed: () => 'the inventory lacks them',
  notSeen: () => 'they never showed the new build and are not alive, so what they run is unknown',
  buildNotOffered: () => 'the service no longer offers the build they had',
  claimed: () => 'they are in another rollout',
  held: () => 'an operator holds them',
  failed: ({ rollback }) => `failed in ${rollback}`,
  withdrawn: ({ rollback }) => `left ${rollback} before their turn`,
});

/** Why one collector was not rolled back. `had`: its previous build. */
export const leftOneText = makeText<LeftBehindReason & { readonly had: string }, LeftBehindKind>({
  unknown: () => 'the rollback left it out, because the service no longer knew it (404)',
  notListed: () => 'the rollback left it out, because the inventory lacked it',
  notSeen: () => 'the rollback left it out, because it had never shown this build and was not alive',
  buildNotOffered: ({ had }) =>
    `the rollback left it out, because the service no longer offered ${had}, its previous build`,
  claimed: () => 'the rollback left it out, because it was in another rollout',
  held: () => 'the rollback left it out, because an operator held it',
  failed: ({ rollback }) => `it failed in ${rollback}`,
  withdrawn: ({ rollback }) => `it left ${rollback} before its turn`,
});

/** `web-1 (had 19.402-1)` */
export function leftCollectorText(collector: LeftBehindCollector): string {
  const { name } = collector;
  return `${name} (${'had' in collector ? `had ${collector.had}` : upgradeReasonText(collector.ended)})`;
}
