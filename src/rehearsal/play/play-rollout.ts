import type { DurationMs, EpochMs } from '../../base/time.ts';
import { reconcile } from '../../orchestrator/lead/reconcile.ts';
import type { EventSink } from '../../orchestrator/ports/event-sink.ts';
import type { GateProbe } from '../../orchestrator/ports/gate-probe.ts';
import type { RolloutStore } from '../../orchestrator/ports/rollout-store.ts';
import { changeRollout } from '../../orchestrator/records/change-rollout.ts';
import { makeSharedAttributes, type SharedAttributes } from '../../orchestrator/records/shared-attributes.ts';
import { runStep } from '../../orchestrator/step/run-step.ts';
import { makeObservations } from '../../orchestrator/watch/observations.ts';
import type { RolloutFact } from '../../rollout/decision/evolve-rollout.ts';
import type { FleetSnapshot } from '../../rollout/model/collector.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { freezePlan } from '../../rollout/planning/freeze-plan.ts';
import { makePlan } from '../../rollout/planning/plan.ts';
import { makeMemoryFleetRegister } from '../store/memory-fleet-register.ts';
import { makeMemoryRolloutStore } from '../store/memory-rollout-store.ts';
import type { FateOf } from '../world/fates.ts';
import { seededChance } from '../world/seeded-chance.ts';
import type { VirtualBudget } from '../world/virtual-budget.ts';
import { makeVirtualService, type VirtualService } from '../world/virtual-service.ts';

/** One rollout to play. */
export interface Stage {
  readonly seed: number;
  readonly policy: Policy;
  readonly targetBuild: string;
  readonly snapshot: FleetSnapshot;
  readonly beganAt: EpochMs;
  readonly fateOf: FateOf;
  readonly budget: VirtualBudget;
  readonly gates: GateProbe;
  /** When what waits for approval from this instant on gets it; Infinity: never. */
  readonly approvedAt: (from: EpochMs) => EpochMs;
  /**
   * The leader's pause between two looks at the whole. A real one answers within milliseconds; but these looks are the
   * dearest part of a run. With fewer of them slots are filled later and failures acted on later.
   */
  readonly breathMs: DurationMs;
  /** Weighs what failures have in common; as a daemon does, where left out. */
  readonly sharedAttributes?: SharedAttributes;
}

/** How a rollout went, until it ended or came to rest without a person. */
export interface Played {
  readonly rollout: Rollout;
  readonly store: RolloutStore;
  readonly service: VirtualService;
  readonly restedAt: EpochMs;
  readonly planned: number;
}

// Nobody needs more candidates of a lane at one look: slots become free one by one, and a pass that filled some is
// followed by another.
const candidatesPerLane = 1;

// Ten times as many as a rollout takes: one that never comes to rest must fail, not hang.
const roundsMax = 3_000_000;

/**
 * Plays one rollout on a virtual clock: the real engine (reconcile, decide, runStep, evolve) on the store's model and a
 * model of the service. A rollback is not played: the rollout rests before it.
 */
export async function playRollout(stage: Stage): Promise<Played> {
  const { seed, policy, snapshot, targetBuild, budget, beganAt } = stage;
  let now: EpochMs = beganAt;
  let isWoken = true;
  const clock = { now: () => now };
  const jobs = makeJobs(clock.now);
  const service = makeVirtualService({ ...stage, clock, slots: policy.concurrency });
  const parts = {
    ...quietParts(stage),
    store: withShortPages(makeMemoryRolloutStore(clock.now)),
    clock,
    wakeUps: { wake: () => (isWoken = true) },
    sleep: async (forMs: DurationMs) => {
      now += forMs;
    },
    fleet: service.fleet,
    queue: { deliver: jobs.deliver, bringForward: jobs.deliver },
  };
  const { store } = parts;
  const id = `${policy.name}-${new Date(beganAt).toISOString().slice(0, 10).replaceAll('-', '')}-${seed}`;
  const plan = makePlan(policy, targetBuild, snapshot, id);
  const origin = { id, policy, startedBy: 'rehearsal', createdAt: now, fleet: snapshot };
  const frozen = freezePlan(plan, origin);
  await store.freeze({ ...frozen, events: [] });

  let rollout: Rollout = frozen.rollout;
  let wakeAt: EpochMs = now;
  let reconciledAt: EpochMs = Number.NEGATIVE_INFINITY;
  let approveAt: EpochMs = Number.POSITIVE_INFINITY;
  for (let round = 0; rollout.endedAt === null; round += 1) {
    if (round > roundsMax) throw new Error(`seed ${seed}: no rest after ${roundsMax} rounds`);
    const reconcileAt = Math.min(
      approveAt,
      isWoken ? Math.min(wakeAt, reconciledAt + stage.breathMs) : wakeAt,
    );
    const [collectorId, dueAt] = jobs.first();
    const jobAt = budget.freeFrom(Math.max(dueAt, now));
    if (reconcileAt <= now || reconcileAt <= jobAt) {
      if (reconcileAt === Number.POSITIVE_INFINITY) break;
      now = Math.max(now, reconcileAt);
      isWoken = false;
      reconciledAt = now;
      if (approveAt <= now)
        await changeRollout(parts, id, 'operator', (view) => approvalOf(view.rollout, now));
      wakeAt = (await reconcile(parts, id, 1, Number.POSITIVE_INFINITY)) ?? Number.POSITIVE_INFINITY;
      rollout = (await store.loadRollout(id)) ?? rollout;
      const isWaiting = approvalOf(rollout, now) !== undefined;
      if (!isWaiting) approveAt = Number.POSITIVE_INFINITY;
      else if (approveAt <= now || approveAt === Number.POSITIVE_INFINITY) approveAt = stage.approvedAt(now);
      continue;
    }
    now = jobAt;
    const outcome = await runStep(parts, { rolloutId: id, collectorId }, never);
    jobs.settle(collectorId, outcome.job === 'end' ? undefined : Math.max(outcome.at, now));
  }
  return { rollout, store, service, restedAt: now, planned: frozen.upgrades.length };
}

const never = new AbortController().signal;

/** The parts that are the same at every instant. */
function quietParts({ policy, seed, gates, sharedAttributes = makeSharedAttributes() }: Stage) {
  return {
    sharedAttributes,
    register: makeMemoryFleetRegister(),
    sink: strictSink,
    answerWithinMs: 35_000,
    random: seededChance(seed),
    gates,
    policies: [policy.name],
    // No page is read: nobody watches.
    observations: makeObservations(),
    backgroundTasks: {
      run: async (key: string, work: (signal: AbortSignal) => Promise<'done' | 'again'>) => {
        if (!key.endsWith('/rollback')) await work(never);
      },
    },
  };
}

const strictSink: EventSink = {
  report: () => undefined,
  note: (note) => {
    if ('error' in note) throw note.error;
  },
};

/** What a person says to a rollout that waits for approval. */
function approvalOf({ state, waves }: Rollout, at: EpochMs): RolloutFact | undefined {
  const reason = { kind: 'asked', by: 'operator', words: '' } as const;
  if (state === 'awaitingApproval') return { kind: 'approved', at, reason };
  const wave = waves.findIndex((each) => each.state === 'awaitingApproval' && each.approvedAt === null);
  return state === 'running' && wave >= 0 ? { kind: 'waveApproved', at, wave, reason } : undefined;
}

/** When each collector's next step is due. */
function makeJobs(now: () => EpochMs) {
  const jobs = new Map<number, EpochMs>();
  return {
    deliver: async (_rolloutId: string, ids: readonly number[]): Promise<void> => {
      for (const id of ids) if (!jobs.has(id)) jobs.set(id, now());
    },
    /** The first one; at Infinity where there is none. */
    first: (): readonly [collectorId: number, dueAt: EpochMs] => {
      let first: readonly [number, EpochMs] = [0, Number.POSITIVE_INFINITY];
      for (const job of jobs) if (job[1] < first[1]) first = job;
      return first;
    },
    settle: (collectorId: number, dueAt: EpochMs | undefined): void => {
      if (dueAt === undefined) jobs.delete(collectorId);
      else jobs.set(collectorId, dueAt);
    },
  };
}

function withShortPages(store: RolloutStore): RolloutStore {
  return {
    ...store,
    loadView: (id, at) => store.loadView(id, { ...at, pageSize: Math.min(at.pageSize, candidatesPerLane) }),
  };
}
