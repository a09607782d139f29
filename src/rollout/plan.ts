import { compareBuildVersions, isSameBuild } from '../base/build-version.ts';
import { hashHex, hashNumber } from '../base/hash.ts';
import { membersOf } from './amount.ts';
import type { FleetCollector, FleetSnapshot } from './collector.ts';
import type { Policy } from './policy.ts';
import { compileSelector } from './selector.ts';

/** The waves with their members, and every collector left out with the reason (P5). */
export interface Plan {
  readonly targetBuild: string;
  readonly waves: readonly PlannedWave[];
  readonly leftOut: readonly LeftOut[];
  /** Names this content: equal for the same members, waves and target. */
  readonly hash: string;
}

export interface PlannedWave {
  readonly name: string;
  readonly members: readonly FleetCollector[];
}

export interface LeftOut {
  readonly collector: FleetCollector;
  readonly reason: LeftOutReason;
}

export const leftOutReasons = {
  notSelected: 'not selected',
  excluded: 'excluded',
  atTarget: 'runs the target build already',
  newer: 'runs a newer build, and downgrades are not allowed',
  failedBefore: 'failed in an earlier rollout of this build',
  notAlive: 'not alive',
  notOffered: 'the service does not offer it this upgrade (in an upgrade, or too old)',
} as const;
export type LeftOutReason = keyof typeof leftOutReasons;

/**
 * Makes the plan of a rollout. Members are spread over the waves by a hash of seed and collector id: repeatable, and
 * not by name or age (DESIGN §4, Waves).
 * @param seed the rollout's id
 * @param failedBefore collectors that failed on this very build
 */
export function makePlan(
  policy: Policy,
  targetBuild: string,
  fleet: FleetSnapshot,
  seed: string,
  failedBefore: ReadonlySet<number> = new Set(),
): Plan {
  const judge = makeJudge(policy, targetBuild, fleet.upgradableIds, failedBefore);
  const chosen: FleetCollector[] = [];
  const leftOut: LeftOut[] = [];
  for (const collector of fleet.collectors) {
    const reason = judge(collector);
    if (reason === undefined) chosen.push(collector);
    else leftOut.push({ collector, reason });
  }
  const waves = cutWaves(policy, spread(chosen, seed));
  return { targetBuild, waves, leftOut, hash: hashOf(targetBuild, waves) };
}

/** Why a collector is left out; undefined when it is in. Evaluated in order; first match wins. */
function makeJudge(
  policy: Policy,
  targetBuild: string,
  upgradableIds: ReadonlySet<number>,
  failedBefore: ReadonlySet<number>,
): (collector: FleetCollector) => LeftOutReason | undefined {
  const isIncluded = compileSelector(policy.select.include);
  const exclusions = policy.select.exclude.map(compileSelector);
  return (collector) => {
    if (!isIncluded(collector)) return 'notSelected';
    if (exclusions.some((matches) => matches(collector))) return 'excluded';
    if (isSameBuild(collector.build, targetBuild)) return 'atTarget';
    const order = compareBuildVersions(collector.build, targetBuild);
    if (order !== undefined && order > 0 && !policy.target.allowDowngrade) return 'newer';
    if (failedBefore.has(collector.id)) return 'failedBefore';
    if (!collector.alive) return 'notAlive';
    if (!upgradableIds.has(collector.id)) return 'notOffered';
    return undefined;
  };
}

function spread(collectors: readonly FleetCollector[], seed: string): readonly FleetCollector[] {
  return collectors
    .map((collector) => ({ collector, key: hashNumber(`${seed}/${collector.id}`) }))
    .sort((a, b) => a.key - b.key || a.collector.id - b.collector.id)
    .map(({ collector }) => collector);
}

/** Every wave takes its size from the front; the last one takes what is left. */
function cutWaves(policy: Policy, ordered: readonly FleetCollector[]): readonly PlannedWave[] {
  let taken = 0;
  return policy.waves.map((rule, index) => {
    const isLast = index === policy.waves.length - 1;
    const size = isLast ? ordered.length - taken : membersOf(rule.size, ordered.length);
    const members = ordered.slice(taken, taken + size);
    taken += members.length;
    return { name: rule.name, members };
  });
}

function hashOf(targetBuild: string, waves: readonly PlannedWave[]): string {
  const content = waves.map((wave) => [wave.name, wave.members.map((member) => member.id)]);
  return hashHex(JSON.stringify([targetBuild, content]), 8);
}
