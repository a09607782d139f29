import { compareBuildVersions, isSameBuild } from '../../base/build-version.ts';
import { hashHex, hashNumber } from '../../base/hash.ts';
import { eachInSteps, filterInSteps, runAtOnce, type Steps } from '../../base/steps.ts';
import type { PlanExclusion } from '../../base/vocabulary.ts';
import type { FleetCollector, FleetSnapshot } from '../model/collector.ts';
import type { PlanGroups } from '../model/plan-groups.ts';
import type { Policy } from '../model/policy.ts';
import { arrangePlan, type PlannedWave } from './arrange-plan.ts';
import { compileSelection } from './selector.ts';
import { type BuildTrials, makeStratumRisk, riskyGroups } from './stratum-risk.ts';

/** The waves with their members, and each collector that is left out, with the reason (P5). */
export interface Plan {
  readonly targetBuild: string;
  readonly waves: readonly PlannedWave[];
  readonly leftOut: readonly LeftOut[];
  readonly groups: PlanGroups;
  /** Hash of members, waves and target. */
  readonly hash: string;
}

export interface LeftOut {
  readonly collector: FleetCollector;
  readonly kind: PlanExclusion;
}

/** What neither policy nor inventory shows: ids of collectors with a special state, and what builds did. */
export interface PlanOptions {
  /** Failed earlier on this build. */
  readonly failedBefore?: ReadonlySet<number>;
  /** Held by an operator. */
  readonly heldCollectors?: ReadonlySet<number>;
  /** Planned in a rollout of another policy (P1). */
  readonly claimed?: ReadonlySet<number>;
  /** If set, only these are planned. */
  readonly only?: ReadonlySet<number>;
  /** What builds did in ended rollouts. */
  readonly history?: readonly BuildTrials[];
}

/**
 * Makes the plan of a rollout (DESIGN §4, Waves).
 * @param seed the rollout's id; members are chosen by a hash of it and their own id, so the same seed makes the same plan
 */
export function* planInSteps(
  policy: Policy,
  targetBuild: string,
  fleet: FleetSnapshot,
  seed: string,
  options: PlanOptions = {},
): Steps<Plan> {
  const exclusionOf = makeExclusionRule(policy, targetBuild, fleet, options);
  const chosen: FleetCollector[] = [];
  const leftOut: LeftOut[] = [];
  yield* eachInSteps(fleet.collectors, (collector) => {
    const kind = exclusionOf(collector);
    if (kind === undefined) chosen.push(collector);
    else leftOut.push({ collector, kind });
  });
  const { history = [] } = options;
  const risks = { ...makeStratumRisk(history, targetBuild), groups: riskyGroups(history, targetBuild) };
  const { waves, groups } = yield* arrangePlan(chosen, policy, seed, risks);
  return { targetBuild, waves, leftOut, groups, hash: hashOf(targetBuild, waves) };
}

/** `planInSteps` in one go, for callers that may block the event loop. */
export function makePlan(...args: Parameters<typeof planInSteps>): Plan {
  return runAtOnce(planInSteps(...args));
}

/** The collectors whose place in a plan may depend on holds, claims and earlier failures. All others stay out anyway. */
export function selectInSteps(
  policy: Pick<Policy, 'select' | 'target'>,
  targetBuild: string,
  fleet: Pick<FleetSnapshot, 'collectors' | 'upgradableIds'>,
): Steps<FleetCollector[]> {
  const exclusionOf = makeExclusionRule(policy, targetBuild, fleet, {});
  return filterInSteps(fleet.collectors, (collector) => {
    const kind = exclusionOf(collector);
    return kind === undefined || kind === 'notAlive' || kind === 'notOffered';
  });
}

/**
 * Makes the rule that tells why a collector is left out of a plan; undefined if it is planned. Evaluated in order, first
 * match wins: what the policy excludes, then lasting reasons, then temporary ones.
 */
export function makeExclusionRule(
  policy: Pick<Policy, 'select' | 'target'>,
  targetBuild: string,
  { collectors, upgradableIds }: Pick<FleetSnapshot, 'collectors' | 'upgradableIds'>,
  { failedBefore, heldCollectors, claimed, only }: PlanOptions,
): (collector: FleetCollector) => PlanExclusion | undefined {
  const selection = compileSelection(policy.select);
  const { share = 100 } = policy.select;
  // Cached: a fleet has few builds and many collectors.
  const above = new Map<string, boolean>();
  const isAbove = ({ build }: FleetCollector) => {
    const known = above.get(build) ?? (compareBuildVersions(build, targetBuild) ?? 0) > 0;
    above.set(build, known);
    return known;
  };
  // The API does not specify whether collectors above the target are listed as upgradable (collector-api.md §4.3). A
  // service that lists any of them is assumed to list all that it would downgrade now.
  const listsAbove = collectors.some((collector) => upgradableIds.has(collector.id) && isAbove(collector));
  return (collector) => {
    const unselected = selection(collector);
    if (unselected !== undefined) return unselected;
    if (percentRankOf(collector) >= share) return 'notInShare';
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

/** From 0 to 100, evenly spread over collectors, the same in each plan. */
function percentRankOf({ id }: FleetCollector): number {
  return (hashNumber(`share/${id}`) % 1_000_000) / 10_000;
}

function hashOf(targetBuild: string, waves: readonly PlannedWave[]): string {
  const content = waves.map(({ name, members }) => [name, members.map(({ collector }) => collector.id)]);
  return hashHex(JSON.stringify([targetBuild, content]), 8);
}
