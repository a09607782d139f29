import type { Clock, EpochMs } from '../../base/time.ts';
import { makeTurnBudget, runInSlices } from '../../base/turn-budget.ts';
import type { BuildOutcome } from '../../contract/admin/builds.ts';
import type { StillRunning } from '../../rollout/messages/scans.ts';
import { membersOfGroups } from '../../rollout/model/attributes.ts';
import type { FleetCollector, FleetSnapshot } from '../../rollout/model/collector.ts';
import type { NoTarget } from '../../rollout/model/left-out.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';
import { isEnd, isFailed, isRunning } from '../../rollout/model/upgrade.ts';
import { type Plan, type PlanOptions, planInSteps, selectInSteps } from '../../rollout/planning/plan.ts';
import { type BuildAges, chooseTarget } from '../../rollout/planning/target.ts';
import { summarizeBuilds } from '../../rollout/report/build-history.ts';
import { type BuildHistory, buildRecordsMax } from '../ports/build-history.ts';
import type { FleetRegister, Holds } from '../ports/fleet-register.ts';
import type { Answer, FleetService } from '../ports/fleet-service.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import type { PolicyClaims } from '../records/policy-claims.ts';

export type PlanReading =
  | {
      readonly kind: 'planned';
      readonly plan: Plan;
      readonly fleet: FleetSnapshot;
      /** The builds that the service offers. */
      readonly builds: readonly string[];
      /** A rollout whose policy no config has, and that is upgrading collectors of this policy. */
      readonly stillRunning: StillRunning | undefined;
    }
  | { readonly kind: 'noTarget'; readonly why: NoTarget };

/** Inputs of a plan beside the policy and the service. */
export interface PlanMemory {
  /** When builds were first seen, and which are held. */
  recallBuilds(
    builds: readonly string[],
  ): Promise<{ readonly seen?: BuildAges; readonly held: ReadonlyMap<string, string> }>;
  /** Collectors that stay out of a plan for this build. */
  recallCollectors(targetBuild: string, fleet: FleetSnapshot): Promise<PlanRecall>;
}

export interface PlanRecall extends PlanOptions {
  /** The rollouts, without a policy in any config, that are upgrading these collectors; absent: none. */
  readonly unfinished?: ReadonlyMap<number, string>;
}

/** Without a store, no further inputs are known. */
export const noMemory: PlanMemory = {
  recallBuilds: async () => ({ held: new Map() }),
  recallCollectors: async () => ({}),
};

/** Reads the service and makes the plan of a policy. It writes nothing. */
export async function readPlan(
  { fleet, clock }: { readonly fleet: FleetService; readonly clock: Clock },
  policy: Policy,
  seed: string,
  memory: PlanMemory,
  signal?: AbortSignal,
): Promise<Answer<PlanReading>> {
  const builds = await fleet.listBuilds(signal);
  if (!builds.ok) return builds;
  const offered = builds.value.map(({ version }) => version);
  const { seen, held } = await memory.recallBuilds(offered);
  const target = chooseTarget(policy.target, builds.value, seen, held);
  if (target.kind === 'none') return { ok: true, value: { kind: 'noTarget', why: target.why } };
  const snapshot = await fleet.readFleet(target.build, signal);
  if (!snapshot.ok) return snapshot;
  const options = await memory.recallCollectors(target.build, snapshot.value);
  const plan = await runInSlices(
    planInSteps(policy, target.build, snapshot.value, seed, options),
    makeTurnBudget(clock),
  );
  const stillRunning = findStillRunning(plan, options);
  return { ok: true, value: { kind: 'planned', plan, fleet: snapshot.value, builds: offered, stillRunning } };
}

function findStillRunning({ leftOut }: Plan, { unfinished }: PlanRecall): StillRunning | undefined {
  const running = leftOut.flatMap(({ collector }) => unfinished?.get(collector.id) ?? []);
  const [rolloutId] = running;
  if (rolloutId === undefined) return undefined;
  return { rolloutId, running: running.filter((each) => each === rolloutId).length };
}

/** The inputs from store and register for a plan of this policy. */
export function makePlanMemory(
  parts: ClaimsParts & {
    readonly register: FleetRegister;
    readonly clock: Clock;
    readonly buildHistory: Pick<BuildHistory, 'read'>;
  },
  next: {
    readonly policy: Pick<Policy, 'name' | 'select' | 'target'>;
    /** Earlier rollouts whose failures the next plan leaves out. */
    readonly history: readonly Rollout[];
    readonly at: EpochMs;
  },
): PlanMemory {
  return {
    recallBuilds: async (builds) => {
      const holds = await parts.register.holds();
      const firstSeen = await parts.register.firstSeen(builds, next.at);
      const held = new Map(holds.builds.map(({ build, reason }) => [build, reason]));
      return { seen: { firstSeen, at: next.at }, held };
    },
    recallCollectors: async (targetBuild, fleet) => {
      const held = await parts.register.holds();
      const select = () =>
        runInSlices(selectInSteps(next.policy, targetBuild, fleet), makeTurnBudget(parts.clock));
      const { claimed, unfinished } = await claimedByOthers(
        parts,
        next.policy.name,
        idsOf(fleet.collectors),
        async () => idsOf(await select()),
      );
      return {
        heldCollectors: heldIn(fleet, held),
        failedBefore: await failedBefore(parts.store, next.history, targetBuild),
        claimed,
        unfinished,
        history: await readBuildTrials(parts),
      };
    },
  };
}

/** What builds did in all ended rollouts that are known. */
export async function readBuildTrials({
  buildHistory,
}: {
  readonly buildHistory: Pick<BuildHistory, 'read'>;
}): Promise<readonly BuildOutcome[]> {
  return summarizeBuilds(await buildHistory.read(buildRecordsMax));
}

/** Collectors that an operator holds, by their ids or by what they share (P5). */
export function heldIn(
  { collectors }: Pick<FleetSnapshot, 'collectors'>,
  held: Pick<Holds, 'collectors' | 'groups'>,
): ReadonlySet<number> {
  const ids = held.collectors.map(({ collectorId }) => collectorId);
  return new Set([...ids, ...membersOfGroups(collectors, held.groups)]);
}

function idsOf(collectors: readonly FleetCollector[]): readonly number[] {
  return collectors.map(({ id }) => id);
}

// More collectors than any plan has.
const failedReadMax = 1_000_000;

/** Collectors that failed in an earlier rollout of this build. They are not retried at every tick of the schedule. */
export async function failedBefore(
  store: RolloutStore,
  history: readonly Rollout[],
  targetBuild: string,
): Promise<ReadonlySet<number>> {
  const failed = new Set<number>();
  for (const rollout of history) {
    if (rollout.kind === 'rollback' || rollout.plan.targetBuild !== targetBuild) continue;
    if (rollout.state === 'succeeded') continue;
    // Read through an index, because walking through every earlier plan at each tick would be too expensive.
    const missed = await store.listMissed(rollout.id, { kind: 'failed', limit: failedReadMax });
    for (const { identity } of missed) failed.add(identity.collectorId);
  }
  return failed;
}

interface ClaimsParts {
  readonly store: RolloutStore;
  readonly claims: PolicyClaims;
}

/**
 * Collectors that running rollouts of other policies have planned, except those upgraded there (P1). A rollout whose policy
 * no config has claims only its running upgrades, because the others never start. Those are `unfinished`, too.
 * @param readCandidates those of `ids` whose claims matter; the records of the others are read only where a policy is missing
 */
export async function claimedByOthers(
  { store, claims }: ClaimsParts,
  policy: string,
  ids: readonly number[],
  readCandidates = async () => ids,
): Promise<{ readonly claimed: ReadonlySet<number>; readonly unfinished: ReadonlyMap<number, string> }> {
  const claimed = new Set<number>();
  const unfinished = new Map<number, string>();
  const others = (await claims.names()).filter((name) => name !== policy);
  let candidates: readonly number[] | undefined;
  for (const rolloutId of await store.activeRolloutIds(others)) {
    const isMissing = claims.isMissing(parseRolloutId(rolloutId).policy);
    if (!isMissing) candidates ??= await readCandidates();
    const { upgrades, unreadable } = await store.loadUpgrades(
      rolloutId,
      isMissing ? ids : (candidates ?? []),
    );
    const claiming = upgrades.filter(({ progress: { state } }) =>
      isMissing ? isRunning(state) : !isEnd(state) || isFailed(state),
    );
    // An unreadable record may be that of an admitted collector.
    for (const collectorId of [...claiming.map(({ identity }) => identity.collectorId), ...unreadable]) {
      claimed.add(collectorId);
      if (isMissing) unfinished.set(collectorId, rolloutId);
    }
  }
  return { claimed, unfinished };
}
