import type {
  Answer,
  EventSink,
  FleetService,
  RolloutStore,
  StepQueue,
} from '../../src/orchestrator/ports.ts';
import { reconcile } from '../../src/orchestrator/reconcile.ts';
import { runStep } from '../../src/orchestrator/step.ts';
import type { FleetSnapshot } from '../../src/rollout/collector.ts';
import type { RolloutEvent } from '../../src/rollout/events.ts';
import type { ServiceFailure } from '../../src/rollout/failure-classes.ts';
import { freezePlan } from '../../src/rollout/freeze-plan.ts';
import { makePlan } from '../../src/rollout/plan.ts';
import type { Policy } from '../../src/rollout/policy.ts';
import { startedAt, targetBuild } from './builders.ts';
import { lossless } from './lossless.ts';
import { makeMemoryRolloutStore } from './memory-rollout-store.ts';

/** What the modelled service does with one create. */
export interface Fate {
  readonly durationMs: number;
  readonly ends: 'succeeded' | 'failed' | 'stuck' | 'lost' | 'otherBuild';
  readonly message: string;
  /** The create is acted on, but its answer never arrives. */
  readonly answerLost: boolean;
  /** Refused with this code, or null. */
  readonly refusedWith: string | null;
  /** The call fails before anything is done. */
  readonly unavailable: boolean;
}

export const goodFate: Fate = {
  durationMs: 240_000,
  ends: 'succeeded',
  message: '',
  answerLost: false,
  refusedWith: null,
  unavailable: false,
};

interface Task {
  readonly id: string;
  readonly collectorId: number;
  readonly createdAt: number;
  readonly endsAt: number;
  readonly fate: Fate;
}

/** The service's own account of the night, against which the promises are judged. */
export interface Account {
  readonly creates: Array<{ readonly collectorId: number; readonly at: number; readonly wave: number }>;
  maxRunning: number;
  /** Creates for a collector that had a task running, or ran the target already (P1). */
  readonly doubled: number[];
  /** Creates of a wave before the wave before it had passed (P3). */
  readonly outOfOrder: number[];
}

export interface Night {
  readonly rolloutId: string;
  readonly store: RolloutStore;
  readonly account: Account;
  readonly events: RolloutEvent[];
  readonly clock: { now(): number };
  /** What the collector itself is like now: its build, and whether it is up. */
  collector(collectorId: number): { readonly build: string; readonly isUp: boolean };
  /** Runs until the rollout has ended or is held, or virtual time is up. */
  run(untilMs?: number): Promise<void>;
}

const heartbeatMs = 15_000;
const serviceTimeoutMs = 30 * 60_000;

// Several times what the longest of the nights takes.
const roundsMax = 100_000;

/**
 * One rollout on a virtual clock: the real engine (decide, nextStep, evolve, reconcile, runStep) on a model of the
 * store and of the service. Everything that happens follows from the arguments.
 * @param fateOf what happens to a collector's n-th create (from 1)
 * @param chance from 0 to 1, for lost and doubled deliveries
 */
export async function makeNight(given: {
  policy: Policy;
  fleet: FleetSnapshot;
  fateOf: (collectorId: number, attempt: number) => Fate;
  chance?: () => number;
  loseJobs?: number;
}): Promise<Night> {
  const { policy, fleet, fateOf } = given;
  const chance = given.chance ?? (() => 0.5);
  let now = startedAt;
  const clock = { now: () => now };
  const store = makeMemoryRolloutStore(clock.now);
  const events: RolloutEvent[] = [];
  const sink: EventSink = {
    tell: (event) => events.push(event),
    note: (note) => {
      if ('error' in note) throw note.error;
    },
  };
  let rung = true;
  const bell = { ring: () => (rung = true) };
  const jobs = new Map<number, number>();
  const deliver = async (_rolloutId: string, ids: readonly number[]): Promise<void> => {
    for (const id of ids) if (!jobs.has(id) && chance() >= (given.loseJobs ?? 0)) jobs.set(id, now);
  };
  const queue: StepQueue = { deliver, redeliver: deliver };
  const rolloutId = `${policy.name}-20260302-1`;
  const plan = makePlan(policy, targetBuild, fleet, rolloutId);
  const origin = { id: rolloutId, policy, startedBy: 'schedule', createdAt: now, fleet };
  const { rollout, upgrades } = freezePlan(plan, origin);
  await store.freeze(rollout, upgrades, []);
  const waveOf = new Map(upgrades.map(({ collectorId, wave }) => [collectorId, wave]));

  const account: Account = { creates: [], maxRunning: 0, doubled: [], outOfOrder: [] };
  const tasks: Task[] = [];
  const attempts = new Map<number, number>();
  const buildOf = new Map(fleet.collectors.map(({ id, build }) => [id, build]));
  const running = (at: number) => tasks.filter((task) => task.endsAt > at);
  const taskOf = (collectorId: number) => tasks.findLast((task) => task.collectorId === collectorId);
  const applyEnds = () => {
    for (const task of tasks) {
      if (task.endsAt > now) continue;
      if (task.fate.ends === 'succeeded' || task.fate.ends === 'lost')
        buildOf.set(task.collectorId, targetBuild);
    }
  };
  const isDown = (collectorId: number) => {
    const task = taskOf(collectorId);
    return task !== undefined && task.fate.ends === 'lost' && task.endsAt <= now;
  };
  const lastSeen = (collectorId: number) => {
    const at = isDown(collectorId) ? (taskOf(collectorId)?.endsAt ?? now) : now;
    return Math.floor(at / heartbeatMs) * heartbeatMs;
  };
  const ok = <T>(value: T): Answer<T> => ({ ok: true, value });
  const failed = (failure: ServiceFailure): Answer<never> => ({ ok: false, failure });

  const fleetService: FleetService = {
    listBuilds: async () => ok([{ version: targetBuild, latest: true }]),
    readFleet: async () => ok(fleet),
    createTask: async ({ collectorId }, beforeSend) => {
      const attempt = (attempts.get(collectorId) ?? 0) + 1;
      const fate = fateOf(collectorId, attempt);
      if (!(await beforeSend())) return failed({ kind: 'cancelled', sent: false });
      attempts.set(collectorId, attempt);
      if (fate.unavailable) return failed({ kind: 'unavailable', sent: true, detail: 'HTTP 503' });
      if (fate.refusedWith !== null) return failed({ kind: 'refused', code: fate.refusedWith, detail: '' });
      applyEnds();
      const wave = waveOf.get(collectorId) ?? -1;
      const open = running(now).some((task) => task.collectorId === collectorId);
      if (open || buildOf.get(collectorId) === targetBuild) account.doubled.push(collectorId);
      if (open) return failed({ kind: 'refused', code: 'collector.in.upgrading', detail: '' });
      const record = await store.loadRollout(rolloutId);
      if (record?.waves.slice(0, wave).some(({ state }) => state !== 'passed'))
        account.outOfOrder.push(collectorId);
      account.creates.push({ collectorId, at: now, wave });
      const lastsMs = fate.ends === 'stuck' ? serviceTimeoutMs : fate.durationMs;
      tasks.push({ id: String(tasks.length + 1), collectorId, createdAt: now, endsAt: now + lastsMs, fate });
      account.maxRunning = Math.max(account.maxRunning, running(now).length);
      if (fate.answerLost) return failed({ kind: 'unavailable', sent: true, detail: 'no answer' });
      return ok({ taskId: String(tasks.length) });
    },
    lookAtTask: async (taskId) => {
      const task = lossless(tasks[Number(taskId) - 1]);
      if (task.endsAt > now)
        return ok({ status: now - task.createdAt < 5_000 ? 1 : 6, message: '', serviceAt: now });
      const good =
        task.fate.ends === 'succeeded' || task.fate.ends === 'lost' || task.fate.ends === 'otherBuild';
      const message = task.fate.ends === 'stuck' ? 'timed out' : task.fate.message;
      return ok({ status: good ? 2 : 3, message: good ? '' : message, serviceAt: now });
    },
    lookAtCollector: async ({ collectorId, upgradableTo }) => {
      applyEnds();
      const build = buildOf.get(collectorId) ?? '';
      const busy = running(now).some((task) => task.collectorId === collectorId);
      const alive = now - lastSeen(collectorId) < 30 * 60_000;
      const upgradable = alive && !busy && build !== targetBuild;
      return ok({
        build,
        alive,
        lastSeenAlive: lastSeen(collectorId),
        serviceAt: now,
        upgradable: upgradableTo === null ? null : upgradable,
      });
    },
  };
  const sleep = async (forMs: number): Promise<void> => {
    now += forMs;
  };
  const shared = { store, clock, sink, bell, sleep, answerWithinMs: 35_000 };
  const stepParts = { ...shared, fleet: fleetService, random: chance };
  const never = new AbortController().signal;

  const run = async (untilMs = 7 * 86_400_000): Promise<void> => {
    const giveUpAt = startedAt + untilMs;
    let reconcileAt = now;
    // A rollout that goes on for ever without time passing must fail, not hang: nothing else could stop it.
    for (let round = 0; now <= giveUpAt; round += 1) {
      if (round > roundsMax) throw new Error(`no rest after ${roundsMax} rounds at ${now - startedAt} ms`);
      if (rung || reconcileAt <= now) {
        rung = false;
        const wakeAt = await reconcile({ ...shared, queue }, rolloutId, 1, 3_000);
        // A look that nobody asked for, as the leader's loop makes it.
        reconcileAt = Math.min(wakeAt ?? Number.POSITIVE_INFINITY, now + 30_000);
      }
      const state = await store.loadRollout(rolloutId);
      if (state === undefined || state.endedAt !== null) return;
      if (state.state === 'held' && jobs.size === 0) return;
      if (rung) continue;
      const due = [...jobs.entries()].sort((a, b) => a[1] - b[1])[0];
      if (due === undefined || due[1] > now) {
        now = Math.max(now, Math.min(due?.[1] ?? Number.POSITIVE_INFINITY, reconcileAt));
        continue;
      }
      const [collectorId] = due;
      const outcome = await runStep(stepParts, { rolloutId, collectorId }, never);
      const lost = chance() < (given.loseJobs ?? 0);
      if (outcome.job === 'end' || lost) jobs.delete(collectorId);
      else jobs.set(collectorId, Math.max(outcome.at, now));
    }
  };
  const collector = (id: number) => {
    applyEnds();
    return { build: buildOf.get(id) ?? '', isUp: !isDown(id) };
  };
  return { rolloutId, store, account, events, clock, collector, run };
}
