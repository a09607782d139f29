import type { Clock, EpochMs } from '../../base/time.ts';
import type { Answer, FleetService } from '../../orchestrator/ports/fleet-service.ts';
import type { FleetCollector, FleetSnapshot } from '../../rollout/model/collector.ts';
import { collectorsPerPage } from '../../rollout/readings/reading-period.ts';
import type { InventoryRow } from '../../rollout/upgrade/facts.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';
import type { FateOf } from './fates.ts';
import type { VirtualBudget } from './virtual-budget.ts';
import { sightingOf, VirtualTasks } from './virtual-tasks.ts';

/** The service on a virtual clock, with a record of requests. */
export interface VirtualService extends Pick<VirtualTasks, 'creates' | 'brokenPromises'> {
  readonly fleet: FleetService;
  /** When a task ends or has ended. Costs no request. */
  endOf(taskId: string): EpochMs | undefined;
  /** The first heartbeat after this instant, at which the collector's task has ended; Infinity: there is none. */
  returnOf(collectorId: number, endedAt: EpochMs): EpochMs;
  /** What a list shows of a collector now. Costs no request. */
  rowOf(collectorId: number): InventoryRow | undefined;
}

const outage: ServiceFailure = {
  kind: 'unavailable',
  sent: false,
  isUnreached: true,
  detail: 'an outage is rehearsed',
};

/**
 * A model of the service. Requests do not wait for the budget here: the caller sends them when they may be sent. During an
 * outage all requests fail unsent.
 * @param given `slots`: the maximum of running tasks; `hasRows`: whether a list shows what a poll before a create would
 */
export function makeVirtualService(given: {
  readonly snapshot: FleetSnapshot;
  readonly targetBuild: string;
  readonly fateOf: FateOf;
  readonly clock: Clock;
  readonly slots: number;
  readonly budget: VirtualBudget;
  readonly hasRows: (now: EpochMs) => boolean;
}): VirtualService {
  const { snapshot, targetBuild, clock, budget, hasRows } = given;
  const tasks = new VirtualTasks(given);
  const collectors = new Map(snapshot.collectors.map((collector) => [collector.id, collector]));
  // Builds that collectors run are still on offer.
  const builds = [...new Set([...snapshot.collectors.map(({ build }) => build), targetBuild])].map(
    (version) => ({ version, latest: version === targetBuild }),
  );
  const pages = Math.max(1, Math.ceil(snapshot.collectors.length / collectorsPerPage));
  /** Counts the requests, and answers them. In an outage, a daemon waits until it is over, and sends none. */
  const answer = <T>(requests: number, read: (now: EpochMs) => Answer<T>): Answer<T> => {
    const now = clock.now();
    if (budget.isDown(now)) return failed(outage);
    budget.spend(requests, now);
    return read(now);
  };
  const unknownCollector: Answer<never> = failed({ kind: 'notFound', detail: 'no such collector' });

  const rowOf = (collectorId: number) => {
    const collector = collectors.get(collectorId);
    const now = clock.now();
    if (collector === undefined) return undefined;
    const { build, alive, lastSeenAlive = null } = tasks.observe(collector, now);
    return { build, alive, lastSeenAlive, serviceAt: now };
  };

  const fleet: FleetService = {
    listBuilds: async () => answer(1, () => ok(builds)),
    readInventory: async () =>
      answer(pages, (now) => {
        const seen = snapshot.collectors.map((each) => ({ ...each, ...tasks.observe(each, now) }));
        return ok({ readAt: now, serviceAt: now, collectors: seen });
      }),
    readFleet: async () => answer(pages + 1, () => ok(snapshot)),
    readUpgradable: async () => answer(1, () => ok({ pages: 1, isInOrder: true })),
    findCollector: async () => failed({ kind: 'notFound', detail: 'not asked for here' }),
    reserveCreate: async ({ collectorId, toBuild }) => {
      const create = (now: EpochMs): Answer<{ readonly taskId: string }> => {
        const collector = collectors.get(collectorId);
        if (collector === undefined) return unknownCollector;
        const taskId = tasks.create(collector, toBuild, now);
        return taskId === undefined
          ? failed({ kind: 'refused', code: 'collector.not.alive', detail: '' })
          : ok({ taskId });
      };
      return ok({ giveUp: () => {}, send: async () => answer(1, create) });
    },
    pollTask: async (taskId) =>
      answer(1, (now) => {
        const task = tasks.find(taskId);
        return task === undefined
          ? failed({ kind: 'notFound', detail: 'no such task' })
          : ok(sightingOf(task, now));
      }),
    pollCollector: async ({ collectorId, upgradableTo, listedSince }) => {
      const isListed = listedSince === undefined ? !tasks.hasFailed(collectorId) : hasRows(clock.now());
      // Lists show collectors that return.
      return answer(isListed ? 0 : 1, (now) => {
        const row = rowOf(collectorId);
        if (row === undefined) return unknownCollector;
        const isUpgradable = row.alive && !tasks.isBusy(collectorId, now) && row.build !== upgradableTo;
        return ok({ ...row, upgradable: upgradableTo === null ? null : isUpgradable });
      });
    },
  };
  const endOf = (taskId: string) => tasks.find(taskId)?.endsAt;
  return {
    fleet,
    endOf,
    returnOf: (id, endedAt) => tasks.returnOf(id, endedAt),
    rowOf,
    creates: tasks.creates,
    brokenPromises: tasks.brokenPromises,
  };
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
