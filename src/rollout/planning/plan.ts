import { compareBuildVersions, isSameBuild } from '../../base/build-version.ts';
import { hashHex } from '../../base/hash.ts';
import { eachInSteps, runAtOnce, type Steps } from '../../base/steps.ts';
import type { PlanExclusion } from '../../base/vocabulary.ts';
import type { FleetCollector, FleetSnapshot } from '../model/collector.ts';
import type { PlanGroups } from '../model/plan-groups.ts';
import type { Policy } from '../model/policy.ts';
import { arrangePlan, type PlannedWave } from './arrange-plan.ts';
import { compileSelection } from './selector.ts';

/** The waves with their members, and every collector left out with the reason (P5). */
export interface Plan {
  readonly targetBuild: string;
  readonly waves: readonly PlannedWave[];
  readonly leftOut: readonly LeftOut[];
  readonly groups: PlanGroups;
  /** Names this content: equal for the same members, waves and target. */
  readonly hash: string;
}

export interface LeftOut {
  readonly collector: FleetCollector;
  readonly kind: PlanExclusion;
}

/** What is known of collectors beside the policy and the inventory; each names them by id. */
export interface PlanOptions {
  /** They failed on this very build. */
  readonly failedBefore?: ReadonlySet<number>;
  /** An operator wants them left alone. */
  readonly heldCollectors?: ReadonlySet<number>;
  /** They have their turn in a rollout of another policy (P1). */
  readonly claimed?: ReadonlySet<number>;
  /** Where given, nobody else is planned. */
  readonly only?: ReadonlySet<number>;
}

/**
 * Makes the plan of a rollout (DESIGN §4, Waves).
 * @param seed the rollout's id: members are chosen by a hash of it and theirs, so the same seed makes the same plan
 */
export function* planInSteps(
  policy: Policy,
  targetBuild: string,
  fleet: FleetSnapshot,
  seed: string,
  options: PlanOptions = {},
): Steps<Plan> {
  const judge = makeJudge(policy, targetBuild, fleet, options);
  const chosen: FleetCollector[] = [];
  const leftOut: LeftOut[] = [];
  yield* eachInSteps(fleet.collectors, (collector) => {
    const kind = judge(collector);
    if (kind === undefined) chosen.push(collector);
    else leftOut.push({ collector, kind });
  });
  const { waves, groups } = yield* arrangePlan(chosen, policy, seed);
  return { targetBuild, waves, leftOut, groups, hash: hashOf(targetBuild, waves) };
}

/** As `planInSteps`, at once: for those that nobody else waits for. */
export function makePlan(...given: Parameters<typeof planInSteps>): Plan {
  return runAtOnce(planInSteps(...given));
}

/**
 * Makes the rule that says why a collector is left out; undefined when it is in. Evaluated in order, first match wins:
 * what the policy says, then what is settled already, then what may pass.
 */
export function makeJudge(
  policy: Pick<Policy, 'select' | 'target'>,
  targetBuild: string,
  { collectors, upgradableIds }: Pick<FleetSnapshot, 'collectors' | 'upgradableIds'>,
  { failedBefore, heldCollectors, claimed, only }: PlanOptions,
): (collector: FleetCollector) => PlanExclusion | undefined {
  const selection = compileSelection(policy.select);
  // A fleet has few builds, and this is asked of each collector.
  const above = new Map<string, boolean>();
  const isAbove = ({ build }: FleetCollector) => {
    const known = above.get(build) ?? (compareBuildVersions(build, targetBuild) ?? 0) > 0;
    above.set(build, known);
    return known;
  };
  // Whether a service lists collectors above the target as upgradable is not specified (collector-api.md §4.3); a task
  // would take them down. One that lists some of them lists all that it would take down now.
  const listsAbove = collectors.some((collector) => upgradableIds.has(collector.id) && isAbove(collector));
  return (collector) => {
    const unselected = selection(collector);
    if (unselected !== undefined) return unselected;
    if (only !== undefined && !only.has(collector.id)) return 'notAsked';
    if (isSameBuild(collector.build, targetBuild)) return 'atTarget';
    const isNewer = isAbove(collector);
    if (isNewer && !policy.target.allowDowngrade) return 'newer';
    if (heldCollectors?.has(collector.id) === true) return 'held';
    if (claimed?.has(collector.id) === true) return 'claimed';
    if (failedBefore?.has(collector.id) === true) return 'failedBefore';
    if (!collector.alive) return 'notAlive';
    if ((!isNewer || listsAbove) && !upgradableIds.has(collector.id)) return 'notOffered';
    return undefined;
  };
}

function hashOf(targetBuild: string, waves: readonly PlannedWave[]): string {
  const content = waves.map(({ name, members }) => [name, members.map(({ collector }) => collector.id)]);
  return hashHex(JSON.stringify([targetBuild, content]), 8);
}
