import { seededChance } from '../../base/chance.ts';
import { sumOf } from '../../base/grouping.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { reconcile } from '../../orchestrator/lead/reconcile.ts';
import type { EventSink } from '../../orchestrator/ports/event-sink.ts';
import type { GateProbe } from '../../orchestrator/ports/gate-probe.ts';
import type { RolloutStore } from '../../orchestrator/ports/rollout-store.ts';
import { type ChangeRolloutParts, changeRollout } from '../../orchestrator/records/change-rollout.ts';
import type { SharedAttributes } from '../../orchestrator/records/shared-attributes.ts';
import { runStep } from '../../orchestrator/step/run-step.ts';
import type { Observations } from '../../orchestrator/watch/observations.ts';
import type { RolloutFact } from '../../rollout/decision/rollout-facts.ts';
import type { FleetSnapshot } from '../../rollout/model/collector.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';
import { makeMemoryFleetRegister } from '../store/memory-fleet-register.ts';
import { makeMemoryRolloutStore } from '../store/memory-rollout-store.ts';
import type { FateOf } from '../world/fates.ts';
import type { VirtualBudget } from '../world/virtual-budget.ts';
import { makeVirtualService, type VirtualService } from '../world/virtual-service.ts';
import { makeAgenda, type Surroundings } from './agenda.ts';
import { makeAwaitLists } from './awaited-lists.ts';
import { freezeFirst } from './freeze-first.ts';
import { type Job, makeJobs } from './jobs.ts';
import { type ListReadings, makeListReadings } from './list-readings.ts';

/** One rollout to simulate. */
export interface Stage extends Surroundings {
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

// One pass needs no more: slots become free one by one, and a pass that fills some is followed by another.
const candidatesPerLane = 1;

// As long as a daemon pauses after a background task without a result.
const taskRestMs: DurationMs = 5_000;

export const never: EpochMs = Number.POSITIVE_INFINITY;

/**
 * Starts the engine of a daemon (reconcile, decide, runStep, evolve) on a virtual clock, with models of the store and the
 * service, and with the rollout planned. The caller moves `time.now`, and runs what is due.
 */
export async function startEngine(stage: Stage) {
  const { policy, seed, snapshot, others = [], installed = [] } = stage;
  const policies = new Map([policy, ...others.map((other) => other.policy)].map((each) => [each.name, each]));
  const names = [...policies.keys()];
  const policyOf = (rolloutId: string) => policies.get(parseRolloutId(rolloutId).policy) ?? policy;
  const time = { now: stage.beganAt, isWoken: true, againAt: never };
  const clock = { now: () => time.now };
  const jobs = makeJobs(clock.now);
  const memory = makeMemoryRolloutStore(clock.now, 'rollouts');
  const store = withShortPages(memory);
  const lists = makeListReadings({ ...stage, policies: names, store, accounts });
  const slots = sumOf([...policies.values()], ({ concurrency }) => concurrency);
  const offered = stage.builds ?? snapshot.collectors.map(({ build }) => build);
  const builds = [...offered, ...others.map(({ targetBuild }) => targetBuild)];
  // Until they are installed, the service lists them as down: no decision counts a collector that is down and not planned.
  const everyone = { ...snapshot, collectors: [...snapshot.collectors, ...installed] };
  const service = makeVirtualService({ ...stage, ...lists, snapshot: everyone, builds, clock, slots });
  const parts = {
    ...quietParts(stage, () => (time.againAt = time.now + taskRestMs)),
    store,
    clock,
    wakeUps: { wake: () => (time.isWoken = true) },
    sleep: async (forMs: DurationMs) => {
      time.now += forMs;
    },
    fleet: service.fleet,
    queue: jobs.queue,
    observations: rowsOf(lists, service),
  };
  const awaitLists = makeAwaitLists({ ...parts, store: memory, service, policyOf, lists });
  const frozen = freezeFirst(stage);
  const { id } = frozen.rollout;
  await store.freeze({ ...frozen, events: [] });
  return {
    ...{ time, store, service, jobs, lists, frozen },
    agenda: makeAgenda({ ...parts, policy, rolloutId: id, snapshot, seed }, stage),
    approve: () => approve(parts, id),
    /** Reconciles the rollout, its rollback, and the rollouts of other policies, which are approved. @returns when to repeat it */
    reconcileAll: async (): Promise<EpochMs> => {
      let wakeAt = never;
      time.againAt = never;
      for (const each of await store.activeRolloutIds(names)) {
        if (policyOf(each) !== policy) await approve(parts, each);
        wakeAt = Math.min(wakeAt, (await reconcile(parts, each, 1, never)) ?? never);
      }
      return Math.min(wakeAt, time.againAt);
    },
    /** Runs the step of a job that is due. @returns when it comes back; undefined: it is over */
    run: async (job: Job): Promise<EpochMs | undefined> => {
      const awaited = await awaitLists(job, time.now);
      if (awaited !== undefined) return awaited.at;
      const outcome = await runStep(parts, job, unaborted);
      const at = outcome.job === 'end' ? undefined : Math.max(outcome.at, time.now);
      return ((await awaitLists(job, time.now)) ?? { at }).at;
    },
  };
}

/** The one rollout belongs to the account that is played. */
const accounts = { statusOf: async () => ({ kind: 'own' }) as const };

const unaborted = new AbortController().signal;

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

/** Approves a rollout that waits for it. */
async function approve(parts: ChangeRolloutParts, id: string): Promise<void> {
  const now = parts.clock.now();
  const rollout = await parts.store.loadRollout(id);
  if (rollout === undefined || approvalOf(rollout, now) === undefined) return;
  await changeRollout(parts, id, 'operator', (view) => approvalOf(view.rollout, now));
}

/** The approval by a person for a rollout that waits for one. */
export function approvalOf({ state, waves }: Rollout, at: EpochMs): RolloutFact | undefined {
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
