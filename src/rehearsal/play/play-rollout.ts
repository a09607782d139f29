import { seededChance } from '../../base/chance.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { reconcile } from '../../orchestrator/lead/reconcile.ts';
import type { EventSink } from '../../orchestrator/ports/event-sink.ts';
import type { GateProbe } from '../../orchestrator/ports/gate-probe.ts';
import type { RolloutStore } from '../../orchestrator/ports/rollout-store.ts';
import { changeRollout } from '../../orchestrator/records/change-rollout.ts';
import type { SharedAttributes } from '../../orchestrator/records/shared-attributes.ts';
import { runStep } from '../../orchestrator/step/run-step.ts';
import type { Observations } from '../../orchestrator/watch/observations.ts';
import type { RolloutFact } from '../../rollout/decision/rollout-facts.ts';
import type { FleetSnapshot } from '../../rollout/model/collector.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import type { RolloutReason } from '../../rollout/model/rollout-reason.ts';
import { type FrozenRollout, freezePlan } from '../../rollout/planning/freeze-plan.ts';
import { makePlan } from '../../rollout/planning/plan.ts';
import { makeMemoryFleetRegister } from '../store/memory-fleet-register.ts';
import { makeMemoryRolloutStore } from '../store/memory-rollout-store.ts';
import type { FateOf } from '../world/fates.ts';
import type { VirtualBudget } from '../world/virtual-budget.ts';
import { makeVirtualService, type VirtualService } from '../world/virtual-service.ts';
import { makeAwaitLists } from './awaited-lists.ts';
import { makeJobs } from './jobs.ts';
import { type ListReadings, makeListReadings } from './list-readings.ts';

/** One rollout to simulate. */
export interface Stage {
  readonly seed: number;
  readonly policy: Policy;
  readonly targetBuild: string;
  readonly snapshot: FleetSnapshot;
  /** The builds that the service offers, so that a rollback can return to them. Default: those that collectors run. */
  readonly builds?: readonly string[];
  readonly beganAt: EpochMs;
  readonly fateOf: FateOf;
  readonly budget: VirtualBudget;
  readonly gates: GateProbe;
  /** When a rollout that waits for approval from this instant on gets it; Infinity: never. */
  readonly approvedAt: (from: EpochMs) => EpochMs;
  /**
   * The leader's pause between two passes. A real leader reacts within milliseconds, but passes are the most expensive part
   * of a simulation. With fewer passes slots are filled later, and failures take effect later.
   */
  readonly passPauseMs: DurationMs;
  /** Finds what failures have in common. */
  readonly sharedAttributes: SharedAttributes;
  /** The id of a past rollout puts the same collectors into the same waves. Default: that of the day, by the seed. */
  readonly rolloutId?: string;
}

/** The result of a rollout, until it ended or waits for a person. */
export interface Played {
  readonly rollout: Rollout;
  readonly store: RolloutStore;
  readonly service: VirtualService;
  /** The reason of its state; after a rollback, the reason for that. */
  readonly cause: RolloutReason;
  /** When it ended, or stopped until a person acts. Upgrades that were running then are watched to their end. */
  readonly stoppedAt: EpochMs;
  readonly planned: number;
}

// One pass needs no more: slots become free one by one, and a pass that fills some is followed by another.
const candidatesPerLane = 1;

// Ten times as many as a rollout needs. One that never settles must fail, not hang.
const roundsMax = 3_000_000;

// As long as a daemon pauses after a background task without a result.
const taskRestMs: DurationMs = 5_000;

/**
 * Simulates one rollout on a virtual clock, including its rollback if the policy has one. It uses the real engine
 * (reconcile, decide, runStep, evolve) with models of the store and the service.
 */
export async function playRollout(stage: Stage): Promise<Played> {
  const { seed, policy, budget, beganAt } = stage;
  let now: EpochMs = beganAt;
  let isWoken = true;
  let againAt: EpochMs = never;
  const clock = { now: () => now };
  const jobs = makeJobs(clock.now);
  const memory = makeMemoryRolloutStore(clock.now, 'rollouts');
  const store = withShortPages(memory);
  const lists = makeListReadings({ ...stage, store, accounts });
  const service = makeVirtualService({ ...stage, ...lists, clock, slots: policy.concurrency });
  const parts = {
    ...quietParts(stage, () => (againAt = now + taskRestMs)),
    store,
    clock,
    wakeUps: { wake: () => (isWoken = true) },
    sleep: async (forMs: DurationMs) => {
      now += forMs;
    },
    fleet: service.fleet,
    queue: jobs.queue,
    observations: rowsOf(lists, service),
  };
  const awaitLists = makeAwaitLists({ ...parts, store: memory, service, policy, lists });
  const frozen = freeze(stage);
  const { id } = frozen.rollout;
  await store.freeze({ ...frozen, events: [] });
  /** Reconciles the rollout and its rollback. @returns when to repeat it */
  const reconcileAll = async (): Promise<EpochMs> => {
    let wakeAt = never;
    againAt = never;
    for (const each of await store.activeRolloutIds([policy.name]))
      wakeAt = Math.min(wakeAt, (await reconcile(parts, each, 1, never)) ?? never);
    return Math.min(wakeAt, againAt);
  };

  let rollout: Rollout = frozen.rollout;
  let wakeAt: EpochMs = now;
  let reconciledAt: EpochMs = Number.NEGATIVE_INFINITY;
  let approveAt: EpochMs = never;
  let changedAt: EpochMs = now;
  let rollbackCause: RolloutReason | undefined;
  for (let round = 0; rollout.endedAt === null; round += 1) {
    if (round > roundsMax) throw new Error(`seed ${seed}: did not settle in ${roundsMax} rounds`);
    const wokenAt = isWoken ? reconciledAt + stage.passPauseMs : never;
    const reconcileAt = Math.min(approveAt, wakeAt, wokenAt);
    const first = jobs.first();
    const jobAt = first === undefined ? never : budget.freeFrom(Math.max(first.at, now));
    if (first === undefined || reconcileAt <= now || reconcileAt <= jobAt) {
      if (reconcileAt === never) break;
      now = Math.max(now, reconcileAt);
      await lists.readUntil(now);
      isWoken = false;
      reconciledAt = now;
      if (approveAt <= now)
        await changeRollout(parts, id, 'operator', (view) => approvalOf(view.rollout, now));
      wakeAt = await reconcileAll();
      const { state } = rollout;
      rollout = (await store.loadRollout(id)) ?? rollout;
      if (rollout.state !== state || rollout.state === 'running') changedAt = now;
      if (rollout.state === 'rollingBack') rollbackCause ??= rollout.reason;
      const isWaiting = approvalOf(rollout, now) !== undefined;
      if (!isWaiting) approveAt = never;
      else if (approveAt <= now || approveAt === never) approveAt = stage.approvedAt(now);
      continue;
    }
    now = jobAt;
    await lists.readUntil(now);
    jobs.take();
    const job = first.thing;
    let awaited = await awaitLists(job, now);
    if (awaited === undefined) {
      const outcome = await runStep(parts, job, unaborted);
      const at = outcome.job === 'end' ? undefined : Math.max(outcome.at, now);
      awaited = (await awaitLists(job, now)) ?? { at };
    }
    jobs.settle(job, awaited.at);
  }
  const cause = rollbackCause ?? rollout.reason;
  const stoppedAt = rollout.endedAt ?? changedAt;
  return { rollout, cause, store, service, stoppedAt, planned: frozen.upgrades.length };
}

const never: EpochMs = Number.POSITIVE_INFINITY;

/** The one rollout belongs to the account that is played. */
const accounts = { statusOf: async () => ({ kind: 'own' }) as const };

const unaborted = new AbortController().signal;

/** The plan of a past rollout, or of the day's one, with the seed as its number. */
function freeze({ seed, policy, snapshot, targetBuild, beganAt, rolloutId }: Stage): FrozenRollout {
  const id =
    rolloutId ?? `${policy.name}-${new Date(beganAt).toISOString().slice(0, 10).replaceAll('-', '')}-${seed}`;
  const plan = makePlan(policy, targetBuild, snapshot, id);
  return freezePlan(plan, { id, policy, startedBy: 'rehearsal', createdAt: beganAt, fleet: snapshot });
}

/** The parts that do not change. @param again called when a background task has no result */
function quietParts({ policy, seed, budget, gates, sharedAttributes }: Stage, again: () => void) {
  return {
    sharedAttributes,
    register: makeMemoryFleetRegister(),
    accounts,
    createsWait: () => undefined,
    sink: strictSink,
    answerWithinMs: 35_000,
    random: seededChance(seed),
    gates,
    claims: { names: async () => [policy.name], isMissing: () => false },
    requestsPerSecond: budget.requestsPerSecond,
    trustedSince: () => 0,
    beginIntent: () => async () => true,
    isClockRight: () => true,
    backgroundTasks: {
      run: async (_key: string, work: (signal: AbortSignal) => Promise<'done' | 'again'>) => {
        if ((await work(unaborted)) === 'again') again();
      },
    },
  };
}

/** No pages are read. The lists that would have been read show each collector as it is. */
function rowsOf(lists: ListReadings, service: Pick<VirtualService, 'rowOf'>): Observations {
  return {
    note: () => undefined,
    find: (collectorId, now) => {
      const at = lists.rowsAt(now);
      const row = at === undefined ? undefined : service.rowOf(collectorId);
      return at === undefined || row === undefined ? undefined : { ...row, at };
    },
  };
}

const strictSink: EventSink = {
  report: () => undefined,
  note: (note) => {
    if ('error' in note) throw note.error;
  },
};

/** The approval by a person for a rollout that waits for one. */
function approvalOf({ state, waves }: Rollout, at: EpochMs): RolloutFact | undefined {
  const reason = { kind: 'asked', by: 'operator', words: '' } as const;
  if (state === 'awaitingApproval') return { kind: 'approved', at, reason };
  const wave = waves.findIndex((each) => each.state === 'awaitingApproval' && each.approvedAt === null);
  return state === 'running' && wave >= 0 ? { kind: 'waveApproved', at, wave, reason } : undefined;
}

function withShortPages(store: RolloutStore): RolloutStore {
  return {
    ...store,
    loadView: (id, at) => store.loadView(id, { ...at, pageSize: Math.min(at.pageSize, candidatesPerLane) }),
  };
}
