import { formatDuration } from '../../base/time.ts';
import type { LeftBehindKind } from '../../base/vocabulary.ts';
import type { ShownLeftBehind, ShownLeftOut } from '../../contract/admin/status-parts.ts';
import type { LeftBehind, LeftBehindCollector, LeftBehindReason } from '../model/left-behind.ts';
import type { LeftOutCount, LeftOutKind, NoTarget } from '../model/left-out.ts';
import { makeText } from './sentences.ts';
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

/** `not alive: 3 · excluded: 1`; empty if no collector is left out. */
export function leftOutLine(groups: readonly ShownLeftOut[]): string {
  return groups.map(({ reason, count }) => `${reason}: ${count}`).join(' · ');
}

export const emptyInventoryText =
  'the inventory holds no installed collector: check that the access key may see collectors, and the base URL';

/** Why a plan is empty: no collector exists, none is selected, or none can be upgraded now. */
export function nobodyPlannedText({
  targetBuild,
  leftOut,
}: {
  readonly targetBuild: string;
  readonly leftOut: ReadonlyArray<{ readonly kind: LeftOutKind }>;
}): string {
  if (leftOut.length === 0) return emptyInventoryText;
  if (leftOut.every(({ kind }) => unselectedReasons.has(kind)))
    return `the policy matches nothing: none of the ${leftOut.length} installed collectors is selected; check select in the policy`;
  return `no collector can be upgraded to ${targetBuild} now`;
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

export function showLeftBehind({ why, count, some }: LeftBehind): ShownLeftBehind {
  return { kind: why.kind, reason: leftBehindText(why), count, names: some.map(collectorText) };
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

function collectorText(collector: LeftBehindCollector): string {
  const { name } = collector;
  return `${name} (${'had' in collector ? `had ${collector.had}` : upgradeReasonText(collector.ended)})`;
}
