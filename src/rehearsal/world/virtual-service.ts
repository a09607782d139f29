import type { Clock, EpochMs } from '../../base/time.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';
import type { Answer, FleetService } from '../../orchestrator/ports/fleet-service.ts';
import {
  advanceCollector,
  isAlive,
  lastHeartbeatAt,
} from '../../reference-service/fleet/simulated-collector.ts';
import { taskStatusAt } from '../../reference-service/fleet/task-script.ts';
import type { SimulatedTask } from '../../reference-service/fleet/upgrade-tasks.ts';
import type { World } from '../../reference-service/fleet/world.ts';
import { RefusedRequest as Refused } from '../../reference-service/scenario/refused-request.ts';
import type { FleetCollector, FleetSnapshot } from '../../rollout/model/collector.ts';
import { collectorsPerPage } from '../../rollout/readings/reading-period.ts';
import type { InventoryRow, TaskSighting } from '../../rollout/upgrade/facts.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';
import type { FateOf } from './fates.ts';
import type { VirtualBudget } from './virtual-budget.ts';
import { makeVirtualWorld } from './virtual-world.ts';

/** The service on a virtual clock, with a record of requests. */
export interface VirtualService {
  readonly fleet: FleetService;
  /** When a task ends or has ended. Costs no request. */
  endOf(taskId: string): EpochMs | undefined;
  /** The first heartbeat after this instant, at which the collector's task has ended; Infinity: there is none. */
  returnOf(collectorId: number, endedAt: EpochMs): EpochMs;
  /** What a list shows of a collector now. Costs no request. */
  rowOf(collectorId: number): InventoryRow | undefined;
  /** Tasks for the target build by collector. */
  readonly creates: ReadonlyMap<number, number>;
  /** Violated promises, each once: P1 and P2. */
  readonly brokenPromises: ReadonlySet<string>;
}

const outage: ServiceFailure = {
  kind: 'unavailable',
  sent: false,
  isUnreached: true,
  detail: 'an outage is rehearsed',
};

/**
 * The port to the service, played by the reference service's world. Requests do not wait for the budget here: the caller sends
 * them when they may be sent. During an outage all requests fail unsent.
 * @param parts `slots`: the maximum of running tasks; `rowsAt`: when a list last showed what a poll before a create would
 */
export function makeVirtualService(parts: {
  readonly snapshot: FleetSnapshot;
  readonly builds: readonly string[];
  readonly targetBuild: string;
  readonly fateOf: FateOf;
  readonly upAt?: ReadonlyMap<number, EpochMs>;
  readonly clock: Clock;
  readonly slots: number;
  readonly budget: VirtualBudget;
  readonly rowsAt: (now: EpochMs) => EpochMs | undefined;
}): VirtualService {
  const { snapshot, clock, budget, slots, rowsAt } = parts;
  const creates = new Map<number, number>();
  const world = makeVirtualWorld({ ...parts, creates });
  const tasks = makeWatchedTasks(world, slots);
  const pages = Math.max(1, Math.ceil(snapshot.collectors.length / collectorsPerPage));
  /** Counts the requests, and answers them. In an outage, a daemon waits until it is over, and sends none. */
  const answer = <T>(requests: number, read: (now: EpochMs) => Answer<T>): Answer<T> => {
    const now = clock.now();
    if (budget.isDown(now)) return failed(outage);
    budget.spend(requests, now);
    return read(now);
  };

  const rowOf = (collectorId: number) => {
    const now = clock.now();
    const row = observe(world, collectorId, now);
    return row && { ...row, serviceAt: now };
  };

  const fleet: FleetService = {
    listBuilds: async () =>
      answer(1, (now) => {
        const latest = world.builds.latest(now);
        return ok(world.builds.offered(now).map((version) => ({ version, latest: version === latest })));
      }),
    readInventory: async () => answer(pages, (now) => ok(readNow(world, parts, { toBuild: null, now }))),
    readFleet: async (toBuild) => answer(pages + 1, (now) => ok(readNow(world, parts, { toBuild, now }))),
    readUpgradable: async () => answer(1, () => ok({ pages: 1, isInOrder: true })),
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
    pollCollector: async ({ collectorId, upgradableTo, listedSince }) => {
      const isListed =
        listedSince === undefined ? !tasks.hasFailed(collectorId) : rowsAt(clock.now()) !== undefined;
      // Lists show collectors that return.
      return answer(isListed ? 0 : 1, () => {
        const row = rowOf(collectorId);
        if (row === undefined) return failed({ kind: 'notFound', detail: 'no such collector' });
        const isUpgradable = row.alive && !world.isInUpgrade(collectorId) && row.build !== upgradableTo;
        return ok({ ...row, upgradable: upgradableTo === null ? null : isUpgradable });
      });
    },
  };
  const endOf = (taskId: string) => world.task(taskId)?.script.endsAt;
  const returnOf = (collectorId: number, endedAt: EpochMs): EpochMs => {
    const collector = world.collector(collectorId);
    const life = collector && advanceCollector(collector, clock.now());
    return life?.kind === 'up' ? heartbeatAfter(life.upSince, endedAt) : Number.POSITIVE_INFINITY;
  };
  return { fleet, endOf, returnOf, rowOf, creates, brokenPromises: tasks.brokenPromises };
}

function heartbeatAfter(upSince: EpochMs, instant: EpochMs): EpochMs {
  const { heartbeatMs } = serviceLimits;
  return upSince + (Math.floor((instant - upSince) / heartbeatMs) + 1) * heartbeatMs;
}

/** Creates tasks, and notes each that a promise forbids. @param slots the maximum of running tasks */
function makeWatchedTasks(world: World, slots: number) {
  const brokenPromises = new Set<string>();
  const last = new Map<number, SimulatedTask>();
  let runningUntil: readonly EpochMs[] = [];
  return {
    brokenPromises,
    hasFailed: (collectorId: number): boolean => last.get(collectorId)?.script.endStatus === 3,
    /** @throws ServiceFailure as the service refuses it */
    create: (collectorId: number, toVersion: string, now: EpochMs): string => {
      runningUntil = runningUntil.filter((endsAt) => endsAt > now);
      if (world.isInUpgrade(collectorId))
        brokenPromises.add(`a second task beside an open one: ${collectorId}`);
      if (observe(world, collectorId, now)?.build === toVersion)
        brokenPromises.add(`a task for the build it runs: ${collectorId}`);
      if (runningUntil.length >= slots) brokenPromises.add(`more than ${slots} tasks at the same time`);
      const task = world.createTask({ collectorId, toVersion, by: 'api' });
      last.set(collectorId, task);
      runningUntil = [...runningUntil, task.script.endsAt];
      return task.id;
    },
  };
}

/**
 * The whole fleet now. A collector that is up at the beginning and is not offered the target build then is not offered it later.
 * @param of `toBuild`: who is upgradable to it; null: nobody
 */
function readNow(
  world: World,
  { snapshot, targetBuild }: { readonly snapshot: FleetSnapshot; readonly targetBuild: string },
  { toBuild, now }: { readonly toBuild: string | null; readonly now: EpochMs },
): FleetSnapshot {
  const { collectors, upgradableIds: offeredAtFirst } = snapshot;
  const refused = collectors.filter(({ id, alive }) => alive && !offeredAtFirst.has(id)).map(({ id }) => id);
  const notOffered = new Set(toBuild === targetBuild ? refused : []);
  const seen = collectors.map((each) => ({ ...each, ...observe(world, each.id, now) }));
  const offered = seen.filter(
    ({ id, alive, build }) =>
      toBuild !== null && alive && build !== toBuild && !notOffered.has(id) && !world.isInUpgrade(id),
  );
  const upgradableIds = new Set(offered.map(({ id }) => id));
  return { readAt: now, serviceAt: now, offeredAt: now, collectors: seen, upgradableIds };
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
