import { seededChance } from '../../../src/base/chance.ts';
import { makeFleetService } from '../../../src/collector-api/fleet/fleet-service.ts';
import { reconcile } from '../../../src/orchestrator/lead/reconcile.ts';
import type { Answer } from '../../../src/orchestrator/ports/fleet-service.ts';
import type { StepQueue } from '../../../src/orchestrator/ports/leader.ts';
import type { RolloutStore } from '../../../src/orchestrator/ports/rollout-store.ts';
import { makeSharedAttributes } from '../../../src/orchestrator/records/shared-attributes.ts';
import { runStep } from '../../../src/orchestrator/step/run-step.ts';
import { makeObservations } from '../../../src/orchestrator/watch/observations.ts';
import { watchFleet } from '../../../src/orchestrator/watch/watch-fleet.ts';
import type { SimulatedTask } from '../../../src/reference-service/fleet/upgrade-tasks.ts';
import { World } from '../../../src/reference-service/fleet/world.ts';
import { parseScenario, type ScenarioInput } from '../../../src/reference-service/scenario/scenario.ts';
import { makeMemoryFleetRegister } from '../../../src/rehearsal/store/memory-fleet-register.ts';
import { makeMemoryRolloutStore } from '../../../src/rehearsal/store/memory-rollout-store.ts';
import type { FleetSnapshot } from '../../../src/rollout/model/collector.ts';
import type { Policy } from '../../../src/rollout/model/policy.ts';
import { freezePlan } from '../../../src/rollout/planning/freeze-plan.ts';
import { makePlan } from '../../../src/rollout/planning/plan.ts';
import { greedyMakespan } from '../../bench/contest/greedy.ts';
import { quantile } from '../../bench/quantile.ts';
import { makeScheduler, type Scheduler } from '../../simulation/world/scheduler.ts';
import { anApiBudgetStatus, aPolicy, aWaveRule, startedAt } from '../builders.ts';
import { quietView } from '../quiet-parts.ts';
import { makeVirtualClient, type ServiceLog, type VirtualWire } from './virtual-client.ts';

export interface VirtualPlay {
  readonly scenario: ScenarioInput;
  /** Build of each collector by its position in the fleet. Default: as the scenario draws it. */
  readonly buildOf?: (index: number) => string;
  readonly slots: number;
  readonly policy?: Partial<Policy>;
  readonly wire?: VirtualWire;
  readonly seed?: number;
  readonly requestsPerSecond?: number;
}

/** How one rollout went. */
export interface VirtualResult {
  readonly state: string;
  readonly upgraded: number;
  readonly planned: number;
  readonly requestsPerUpgrade: number;
  readonly requests: Readonly<Record<string, number>>;
  /** From the first create until the last end was known. */
  readonly makespanMs: number;
  /** Makespan over a schedule of the same durations without any delay. */
  readonly overGreedy: number;
  /** Delays from an end to its detection, as shares of the median duration. */
  readonly failureLags: readonly number[];
  readonly successLags: readonly number[];
  /** Until the rollout ended, or was held and nothing of it was in flight. */
  readonly tookMs: number;
  /** Until the rollout ended or was held. */
  readonly stoppedAfterMs: number;
  readonly targetBuild: string;
  readonly builds: readonly string[];
  readonly snapshot: FleetSnapshot;
  readonly tasks: readonly SimulatedTask[];
}

// Four requests a second, with the margin of the API budget.
const requestsPerSecondDefault = 4 / 1.04;

// A pass of the leader and its way to Redis.
const passMs = 20;
const storeMs = 5;
const checkEveryMs = 10_000;
const longestMs = 48 * 3_600_000;

/** Plays a rollout with the real loops, lists included, against the reference service's world, in virtual time. */
export async function playVirtually(play: VirtualPlay): Promise<VirtualResult> {
  const { wire = {}, seed = 1, requestsPerSecond = requestsPerSecondDefault, buildOf } = play;
  const scheduler = makeScheduler(startedAt);
  const clock = { now: scheduler.now };
  const world = new World({ scenario: parseScenario(play.scenario), clock });
  if (buildOf !== undefined)
    for (const [index, collector] of world.collectors().entries())
      collector.life = { ...collector.life, version: buildOf(index) };
  const { client, log } = makeVirtualClient({ scheduler, world, wire, requestsPerSecond, seed });
  const sleep = (forMs: number) => waitFor(scheduler, forMs);
  const fleet = makeFleetService({ client, clock, sleep, onUnreadable: () => undefined });
  const policy = aPolicy({
    concurrency: play.slots,
    waves: [aWaveRule({ maxFailures: { kind: 'percent', percent: 100 } })],
    ...play.policy,
  });
  const played: { end?: RolloutEnd } = {};
  const over = playRollout({ scheduler, fleet, policy, seed, requestsPerSecond, sleep }).then((end) => {
    played.end = end;
  });
  for (let end = ''; played.end === undefined && end !== 'late'; ) {
    const { events } = scheduler;
    const before = events();
    const isOver = () => played.end !== undefined || events() > before;
    end = await Promise.race([scheduler.run(startedAt + longestMs, isOver), over.then(() => 'over')]);
    // A long list of rows is parsed in several turns of the event loop, which nothing in virtual time ends.
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (played.end === undefined) throw new Error('the rollout did not end');
  return summarize(log, play, { ...played.end, tookMs: clock.now() - startedAt });
}

interface RolloutEnd
  extends Pick<VirtualResult, 'state' | 'planned' | 'targetBuild' | 'builds' | 'snapshot'> {
  readonly stoppedAfterMs: number;
}

interface PlayParts {
  readonly scheduler: Scheduler;
  readonly fleet: ReturnType<typeof makeFleetService>;
  readonly policy: Policy;
  readonly seed: number;
  readonly requestsPerSecond: number;
  readonly sleep: (forMs: number) => Promise<void>;
}

/** Plans and freezes a rollout, and runs the loops until nothing of it is in flight. */
async function playRollout(parts: PlayParts): Promise<RolloutEnd> {
  const { scheduler, fleet, policy, seed } = parts;
  const store = makeMemoryRolloutStore(scheduler.now, 'none');
  const register = makeMemoryFleetRegister();
  const builds = await repeated(() => fleet.listBuilds());
  const target = builds.find(({ latest }) => latest)?.version ?? '';
  const versions = builds.map(({ version }) => version);
  await register.firstSeen(versions, scheduler.now());
  const snapshot = await repeated(() => fleet.readFleet(target));
  const id = `${policy.name}-20260302-${seed}`;
  const plan = makePlan(policy, target, snapshot, id);
  const origin = { id, policy, startedBy: 'test', createdAt: scheduler.now(), fleet: snapshot };
  const frozen = freezePlan(plan, origin);
  await store.freeze({ ...frozen, events: [] });
  const loops = makeLoops({ ...parts, store: withShortPages(store), register });
  let stoppedAt = scheduler.now();
  for (;;) {
    const { state, isOver, isStopped } = await loops.pass(id);
    if (!isStopped) stoppedAt = scheduler.now();
    if (isOver) {
      const planned = frozen.upgrades.length;
      return {
        ...{ state, planned, targetBuild: target, builds: versions, snapshot },
        stoppedAfterMs: stoppedAt - startedAt,
      };
    }
  }
}

async function repeated<T>(read: () => Promise<Answer<T>>): Promise<T> {
  for (;;) {
    const answer = await read();
    if (answer.ok) return answer.value;
  }
}

function waitFor(scheduler: Scheduler, forMs: number): Promise<void> {
  return new Promise((resolve) => scheduler.at(scheduler.now() + Math.max(1, forMs), resolve));
}

/** The loops of a daemon. */
function makeLoops(
  played: PlayParts & {
    readonly store: RolloutStore;
    readonly register: ReturnType<typeof makeMemoryFleetRegister>;
  },
) {
  const { scheduler, store, policy, sleep } = played;
  const clock = { now: scheduler.now };
  let wake: () => void = () => undefined;
  let isWoken = false;
  const jobs = makeVirtualJobs(scheduler, (job) => runStep(parts, job, never));
  const running = new Set<string>();
  const parts = {
    ...quietView,
    ...{ store, register: played.register, fleet: played.fleet, clock, sleep },
    sink: {
      report: () => undefined,
      note: (note: object) => {
        if ('error' in note) throw note.error;
      },
    },
    wakeUps: {
      wake: () => {
        isWoken = true;
        wake();
      },
    },
    queue: jobs,
    answerWithinMs: 35_000,
    random: seededChance(played.seed),
    policies: () => [policy.name],
    claims: { names: async () => [policy.name], isMissing: () => false },
    trustedSince: () => 0,
    beginIntent: () => async () => true,
    isClockRight: () => true,
    observations: makeObservations(),
    sharedAttributes: makeSharedAttributes(),
    gates: { ask: async () => ({ kind: 'error', detail: 'no gate is played' }) as const },
    requestsPerSecond: played.requestsPerSecond,
    readApiBudgetStatus: async () => anApiBudgetStatus({ requestsPerSecondMax: played.requestsPerSecond }),
    backgroundTasks: {
      run: async (key: string, work: (signal: AbortSignal) => Promise<'done' | 'again'>) => {
        if (running.has(key)) return;
        running.add(key);
        void (async () => {
          await sleep(1);
          if ((await work(never)) === 'again') await sleep(5_000);
          running.delete(key);
        })();
      },
    },
  };
  return {
    /** Reconciles the rollout once, and waits for the next pass. */
    pass: async (id: string) => {
      isWoken = false;
      let wakeAt = Number.POSITIVE_INFINITY;
      // A rollback is a rollout of its own.
      for (const each of await store.activeRolloutIds([policy.name]))
        wakeAt = Math.min(wakeAt, (await reconcile(parts, each, 1, 3_000)) ?? wakeAt);
      await parts.backgroundTasks.run('watch', (signal) => watchFleet(parts, () => true, signal));
      await sleep(passMs);
      const waitMs = Math.min(checkEveryMs, wakeAt - clock.now());
      if (!isWoken)
        await new Promise<void>((resolve) => {
          wake = resolve;
          scheduler.at(clock.now() + Math.max(1, waitMs), resolve);
        });
      return describe(store, id, clock.now());
    },
  };
}

async function describe(store: RolloutStore, id: string, now: number) {
  const view = await store.loadView(id, { now, overdueBefore: 0, pageSize: 1 });
  if (view === undefined) throw new Error('the rollout is gone');
  const { state, endedAt } = view.rollout;
  const isStopped = endedAt !== null || state === 'held';
  return { state, isStopped, isOver: isStopped && view.slotsTaken === 0 };
}

/** Step jobs, as a queue delivers them to the workers of one daemon. */
function makeVirtualJobs(
  scheduler: Scheduler,
  step: (job: { rolloutId: string; collectorId: number }) => ReturnType<typeof runStep>,
): StepQueue {
  const jobs = new Map<number, { turn: number; isRunning: boolean }>();
  const schedule = (rolloutId: string, collectorId: number, at: number): void => {
    const job = jobs.get(collectorId) ?? { turn: 0, isRunning: false };
    jobs.set(collectorId, job);
    job.turn += 1;
    const { turn } = job;
    scheduler.at(at, () => {
      if (job.turn !== turn || jobs.get(collectorId) !== job) return;
      job.isRunning = true;
      void step({ rolloutId, collectorId }).then((outcome) => {
        job.isRunning = false;
        if (outcome.job === 'end') jobs.delete(collectorId);
        else schedule(rolloutId, collectorId, Math.max(scheduler.now() + 1, outcome.at));
      });
    });
  };
  const soon = () => scheduler.now() + storeMs;
  return {
    deliver: async (rolloutId, ids) => {
      for (const id of ids) if (!jobs.has(id)) schedule(rolloutId, id, soon());
    },
    bringForward: async (rolloutId, ids) => {
      for (const id of ids) if (jobs.get(id)?.isRunning !== true) schedule(rolloutId, id, soon());
    },
  };
}

// One pass needs no more: slots become free one by one.
function withShortPages(store: RolloutStore): RolloutStore {
  return {
    ...store,
    loadView: (id, at) => store.loadView(id, { ...at, pageSize: Math.min(at.pageSize, 20) }),
  };
}

function summarize(
  { requests, tasks, endSeenAt }: ServiceLog,
  { slots }: VirtualPlay,
  end: RolloutEnd & Pick<VirtualResult, 'tookMs'>,
): VirtualResult {
  const durations = tasks.map(({ requestedAt, script }) => script.endsAt - requestedAt);
  const medianMs = quantile(durations, 0.5);
  const lagsOf = (endStatus: number) =>
    tasks
      .filter(({ script }) => script.endStatus === endStatus)
      .map(({ id, script }) => ((endSeenAt.get(id) ?? Number.POSITIVE_INFINITY) - script.endsAt) / medianMs);
  const upgraded = tasks.filter(({ script }) => script.endStatus === 2).length;
  const beganAt = tasks[0]?.requestedAt ?? Number.NaN;
  const makespanMs = Math.max(...endSeenAt.values()) - beganAt;
  const total = [...requests.values()].reduce((sum, count) => sum + count, 0);
  const greedyMs = greedyMakespan(durations, { slots, requestsPerSecond: 4 });
  return {
    ...{ ...end, upgraded, makespanMs, tasks },
    requestsPerUpgrade: total / upgraded,
    requests: Object.fromEntries(requests),
    overGreedy: makespanMs / greedyMs,
    failureLags: lagsOf(3),
    successLags: lagsOf(2),
  };
}

const never = new AbortController().signal;
