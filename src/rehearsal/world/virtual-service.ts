import type { Clock, EpochMs } from '../../base/time.ts';
import type { Answer, FleetService } from '../../orchestrator/ports/fleet-service.ts';
import {
  advanceCollector,
  isAlive,
  lastHeartbeatAt,
} from '../../reference-service/fleet/simulated-collector.ts';
import { taskStatusAt } from '../../reference-service/fleet/task-script.ts';
import type { SimulatedTask } from '../../reference-service/fleet/upgrade-tasks.ts';
import type { World } from '../../reference-service/fleet/world.ts';
import { ServiceFailure as Refused } from '../../reference-service/scenario/service-failure.ts';
import type { FleetCollector, FleetSnapshot } from '../../rollout/model/collector.ts';
import { collectorsPerPage } from '../../rollout/readings/reading-period.ts';
import type { TaskSighting } from '../../rollout/upgrade/facts.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';
import type { FateOf } from './fates.ts';
import type { VirtualBudget } from './virtual-budget.ts';
import { makeVirtualWorld } from './virtual-world.ts';

/** The service on a virtual clock, with a record of requests. */
export interface VirtualService {
  readonly fleet: FleetService;
  /** Tasks for the target build by collector. */
  readonly creates: ReadonlyMap<number, number>;
  /** Violated promises, each once: P1 and P2. */
  readonly brokenPromises: ReadonlySet<string>;
  /** The status and end of a running task; undefined, without a request, when it has ended or the service is down. */
  pollRunning(taskId: string): { readonly sighting: TaskSighting; readonly endsAt: EpochMs } | undefined;
}

const outage: ServiceFailure = {
  kind: 'unavailable',
  sent: false,
  isUnreached: true,
  detail: 'an outage is rehearsed',
};

/**
 * The port to the service, played by the reference service's world. Requests do not wait for the budget here: the caller sends them when they may be sent. During an
 * outage all requests fail.
 * @param given `slots`: the maximum of running tasks
 */
export function makeVirtualService(given: {
  readonly snapshot: FleetSnapshot;
  readonly targetBuild: string;
  readonly fateOf: FateOf;
  readonly clock: Clock;
  readonly slots: number;
  readonly budget: VirtualBudget;
}): VirtualService {
  const { snapshot, clock, budget, slots } = given;
  const creates = new Map<number, number>();
  const world = makeVirtualWorld({ ...given, creates });
  const tasks = makeWatchedTasks(world, slots);
  const pages = Math.max(1, Math.ceil(snapshot.collectors.length / collectorsPerPage));
  /** Counts the requests, and answers them unless there is an outage. */
  const answer = <T>(requests: number, read: (now: EpochMs) => Answer<T>): Answer<T> => {
    const now = clock.now();
    budget.spend(requests, now);
    return budget.isDown(now) ? failed(outage) : read(now);
  };

  const fleet: FleetService = {
    listBuilds: async () =>
      answer(1, (now) => {
        const latest = world.builds.latest(now);
        return ok(world.builds.offered(now).map((version) => ({ version, latest: version === latest })));
      }),
    readInventory: async () =>
      answer(pages, (now) => {
        const seen = snapshot.collectors.map((each) => ({ ...each, ...observe(world, each.id, now) }));
        return ok({ readAt: now, serviceAt: now, collectors: seen });
      }),
    readFleet: async () => answer(pages + 1, () => ok(snapshot)),
    readUpgradable: async () => answer(1, () => ok(1)),
    findCollector: async () => failed({ kind: 'notFound', detail: 'not asked for here' }),
    reserveCreate: async ({ collectorId, toBuild }) => {
      const create = (now: EpochMs): Answer<{ readonly taskId: string }> => {
        try {
          return ok({ taskId: tasks.create(collectorId, toBuild, now) });
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          const { code, status, message: detail } = error;
          return failed({ kind: 'refused', code, status, detail });
        }
      };
      return ok({ giveUp: () => {}, send: async () => answer(1, create) });
    },
    pollTask: async (taskId) =>
      answer(1, (now) => {
        const task = world.task(taskId);
        return task === undefined
          ? failed({ kind: 'notFound', detail: 'no such task' })
          : ok(sightingOf(task, now));
      }),
    pollCollector: async ({ collectorId, upgradableTo }) =>
      answer(0, (now) => {
        const seen = observe(world, collectorId, now);
        if (seen === undefined) return failed({ kind: 'notFound', detail: 'no such collector' });
        const isUpgradable = seen.alive && !world.isInUpgrade(collectorId) && seen.build !== upgradableTo;
        return ok({ ...seen, serviceAt: now, upgradable: upgradableTo === null ? null : isUpgradable });
      }),
  };
  const pollRunning = (taskId: string) => {
    const now = clock.now();
    const task = world.task(taskId);
    if (task === undefined || task.script.endsAt <= now || budget.isDown(now)) return undefined;
    return { sighting: sightingOf(task, now), endsAt: task.script.endsAt };
  };
  return { fleet, pollRunning, creates, brokenPromises: tasks.brokenPromises };
}

/** Creates tasks, and notes each that a promise forbids. @param slots the maximum of running tasks */
function makeWatchedTasks(world: World, slots: number) {
  const brokenPromises = new Set<string>();
  let runningUntil: readonly EpochMs[] = [];
  return {
    brokenPromises,
    /** @throws ServiceFailure as the service refuses it */
    create: (collectorId: number, toVersion: string, now: EpochMs): string => {
      runningUntil = runningUntil.filter((endsAt) => endsAt > now);
      if (world.isInUpgrade(collectorId))
        brokenPromises.add(`a second task beside an open one: ${collectorId}`);
      if (observe(world, collectorId, now)?.build === toVersion)
        brokenPromises.add(`a task for the build it runs: ${collectorId}`);
      if (runningUntil.length >= slots) brokenPromises.add(`more than ${slots} tasks at once`);
      const { id, script } = world.createTask({ collectorId, toVersion, by: 'api' });
      runningUntil = [...runningUntil, script.endsAt];
      return id;
    },
  };
}

/** What the service shows of a collector; undefined: there is none. */
function observe(world: World, collectorId: number, now: EpochMs) {
  const collector = world.collector(collectorId);
  if (collector === undefined) return undefined;
  const life = advanceCollector(collector, now);
  return {
    build: life.version,
    alive: isAlive(collector, now),
    lastSeenAlive: lastHeartbeatAt(life, now),
  };
}

function sightingOf({ script }: SimulatedTask, now: EpochMs): TaskSighting {
  const message = now >= script.endsAt ? script.message : '';
  return { status: taskStatusAt(script, now), message, serviceAt: now };
}

function ok<T>(value: T): Answer<T> {
  return { ok: true, value };
}

function failed(failure: ServiceFailure): Answer<never> {
  return { ok: false, failure };
}

/** A reading of the fleet as of this instant: collectors that were alive then are alive now, and are offered the build. */
export function fleetAsOf(collectors: readonly FleetCollector[], at: EpochMs): FleetSnapshot {
  return {
    readAt: at,
    serviceAt: at,
    offeredAt: at,
    collectors: collectors.map((each) => (each.alive ? { ...each, lastSeenAlive: at } : each)),
    upgradableIds: new Set(collectors.filter(({ alive }) => alive).map(({ id }) => id)),
  };
}
