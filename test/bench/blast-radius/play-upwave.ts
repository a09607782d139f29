import type { DurationMs, EpochMs } from '../../../src/base/time.ts';
import { reconcile } from '../../../src/orchestrator/lead/reconcile.ts';
import type { EventSink } from '../../../src/orchestrator/ports/event-sink.ts';
import type { RolloutStore } from '../../../src/orchestrator/ports/rollout-store.ts';
import { loadRolloutSummary } from '../../../src/orchestrator/records/read-records.ts';
import { runStep } from '../../../src/orchestrator/step/run-step.ts';
import { makeObservations } from '../../../src/orchestrator/watch/observations.ts';
import { makeMemoryFleetRegister } from '../../../src/rehearsal/store/memory-fleet-register.ts';
import { makeMemoryRolloutStore } from '../../../src/rehearsal/store/memory-rollout-store.ts';
import { rolloutReasonWords } from '../../../src/rollout/messages/rollout-reasons.ts';
import type { HeldStratum } from '../../../src/rollout/model/rollout.ts';
import { freezePlan } from '../../../src/rollout/planning/freeze-plan.ts';
import { makePlan } from '../../../src/rollout/planning/plan.ts';
import { seededChance } from '../../support/seeded-chance.ts';
import { beganAt, type Fleet, targetBuild } from './draw-fleet.ts';
import type { FateOf } from './fates.ts';
import { carefulPolicy } from './policy.ts';
import { makeVirtualService } from './virtual-service.ts';

/** How one rollout went, until it ended or was held. */
export interface UpwavePlay {
  /** Collectors of the broken stratum for which a task was created. */
  readonly harmed: number;
  /** Upgraded collectors outside it, as a share of all planned there. */
  readonly othersDone: number;
  readonly makespanMs: DurationMs;
  /** The state it came to rest in, and why. */
  readonly state: string;
  readonly reason: string;
  /** It went as far as it can without an operator: only members of held strata are left. */
  readonly isThrough: boolean;
  readonly heldStrata: ReadonlyArray<Pick<HeldStratum, 'label' | 'reason'>>;
  readonly brokenPromises: readonly string[];
}

// Nobody needs more candidates of a lane at one look: slots become free one by one, and a pass that filled some is
// followed by another.
const candidatesPerLane = 1;

// Ten times as many as a rollout takes: one that never comes to rest must fail, not hang.
const roundsMax = 1_000_000;

/**
 * One rollout on a virtual clock: the real engine (reconcile, decide, runStep, evolve) on the store's model and a model
 * of the service. Requests take no time: 50 slots ask for fewer than two a second, half of what the service allows.
 * @param breathMs the leader's pause between two looks at the whole. A real one answers within milliseconds; but these
 * looks are the dearest part of a run, and with fewer of them slots are filled later and failures acted on later, so
 * that no figure gets better by it
 */
export async function playUpwave(
  { seed, breathMs }: { readonly seed: number; readonly breathMs: DurationMs },
  fleet: Fleet,
  fateOf: FateOf,
): Promise<UpwavePlay> {
  let now: EpochMs = beganAt;
  const clock = { now: () => now };
  const policy = carefulPolicy;
  const store = withShortPages(makeMemoryRolloutStore(clock.now));
  const register = makeMemoryFleetRegister();
  const service = makeVirtualService({ snapshot: fleet.snapshot, fateOf, clock, slots: policy.concurrency });
  const chance = seededChance(seed);
  let isRung = true;
  const jobs = new Map<number, EpochMs>();
  const deliver = async (_rolloutId: string, ids: readonly number[]): Promise<void> => {
    for (const id of ids) if (!jobs.has(id)) jobs.set(id, now);
  };
  const never = new AbortController().signal;
  const parts = {
    store,
    register,
    clock,
    sink: strictSink,
    wakeUps: { wake: () => (isRung = true) },
    sleep: async (forMs: DurationMs) => {
      now += forMs;
    },
    answerWithinMs: 35_000,
    random: chance,
    fleet: service.fleet,
    gates: { ask: async () => ({ kind: 'error', detail: 'no gate is asked here' }) as const },
    queue: { deliver, bringForward: deliver },
    policies: [policy.name],
    // No page is read: nobody watches.
    observations: makeObservations(),
    backgroundTasks: {
      run: async (_key: string, work: (signal: AbortSignal) => Promise<'done' | 'again'>) => {
        await work(never);
      },
    },
  };

  const id = `${policy.name}-20260302-${seed}`;
  const plan = makePlan(policy, targetBuild, fleet.snapshot, id);
  const origin = { id, policy, startedBy: 'bench', createdAt: now, fleet: fleet.snapshot };
  await store.freeze({ ...freezePlan(plan, origin), events: [] });

  let wakeAt: EpochMs = now;
  let polledAt: EpochMs = Number.NEGATIVE_INFINITY;
  for (let round = 0; ; round += 1) {
    if (round > roundsMax) throw new Error(`seed ${seed}: no rest after ${roundsMax} rounds`);
    const lookAt = isRung ? Math.min(wakeAt, polledAt + breathMs) : wakeAt;
    const [collectorId, jobAt] = firstDue(jobs);
    if (lookAt <= now || lookAt <= jobAt) {
      if (lookAt === Number.POSITIVE_INFINITY) break;
      now = Math.max(now, lookAt);
      isRung = false;
      polledAt = now;
      wakeAt = (await reconcile(parts, id, 1, Number.POSITIVE_INFINITY)) ?? Number.POSITIVE_INFINITY;
      const rollout = await store.loadRollout(id);
      if (rollout === undefined || rollout.endedAt !== null) break;
      continue;
    }
    now = Math.max(now, jobAt);
    const outcome = await runStep(parts, { rolloutId: id, collectorId }, never);
    if (outcome.job === 'end') jobs.delete(collectorId);
    else jobs.set(collectorId, Math.max(outcome.at, now));
  }

  const view = await loadRolloutSummary({ store, register }, id, now);
  if (view === undefined) throw new Error(`seed ${seed}: the rollout is gone`);
  const { state, reason, heldStrata, waves } = view.rollout;
  const succeeded = await store.listUpgrades(id, {
    offset: 0,
    limit: Number.MAX_SAFE_INTEGER,
    state: 'succeeded',
  });
  const others = fleet.snapshot.collectors.length - fleet.broken.size;
  return {
    harmed: [...service.creates.keys()].filter((each) => fleet.broken.has(each)).length,
    othersDone:
      succeeded.filter(({ identity: { collectorId } }) => !fleet.broken.has(collectorId)).length / others,
    makespanMs: now - beganAt,
    state,
    reason: rolloutReasonWords(reason),
    isThrough: waves.every((wave) => wave.state === 'passed'),
    heldStrata: heldStrata.map(({ label, reason: why }) => ({ label, reason: why })),
    brokenPromises: [...service.brokenPromises],
  };
}

function withShortPages(store: RolloutStore): RolloutStore {
  return {
    ...store,
    loadView: (id, at) => store.loadView(id, { ...at, pageSize: Math.min(at.pageSize, candidatesPerLane) }),
  };
}

const strictSink: EventSink = {
  report: () => undefined,
  note: (note) => {
    if ('error' in note) throw note.error;
  },
};

function firstDue(jobs: ReadonlyMap<number, EpochMs>): readonly [collectorId: number, at: EpochMs] {
  let first: readonly [number, EpochMs] = [0, Number.POSITIVE_INFINITY];
  for (const job of jobs) if (job[1] < first[1]) first = job;
  return first;
}
