import type { Clock, EpochMs } from '../../base/time.ts';
import type { Answer, FleetService } from '../../orchestrator/ports/fleet-service.ts';
import type { FleetCollector, FleetSnapshot } from '../../rollout/model/collector.ts';
import { collectorsPerPage } from '../../rollout/readings/reading-period.ts';
import type { TaskSighting } from '../../rollout/upgrade/facts.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';
import type { Fate, FateOf } from './fates.ts';
import type { VirtualBudget } from './virtual-budget.ts';

/** The service on a virtual clock, with a record of requests. */
export interface VirtualService {
  readonly fleet: FleetService;
  /** The status and end of a running task; undefined, without a request, when it has ended or the service is down. */
  pollRunning(taskId: string): { readonly sighting: TaskSighting; readonly endsAt: EpochMs } | undefined;
  /** Tasks for the target build by collector. */
  readonly creates: ReadonlyMap<number, number>;
  /** Violated promises, each once: P1 and P2. */
  readonly brokenPromises: ReadonlySet<string>;
}

interface Task {
  readonly buildBefore: string;
  readonly toBuild: string;
  readonly createdAt: EpochMs;
  readonly endsAt: EpochMs;
  readonly fate: Fate;
}

const heartbeatMs = 15_000;
const deadAfterMs = 30 * 60_000;
const receivedForMs = 5_000;

const outage: ServiceFailure = {
  kind: 'unavailable',
  sent: false,
  isUnreached: true,
  detail: 'an outage is rehearsed',
};

/**
 * A model of the service. Requests do not wait for the budget here: the caller sends them when they may be sent. During an
 * outage all requests fail.
 * @param slots the maximum of running tasks
 */
// oxlint-disable-next-line max-lines-per-function -- a model in memory: its methods share one state
export function makeVirtualService(given: {
  readonly snapshot: FleetSnapshot;
  readonly targetBuild: string;
  readonly fateOf: FateOf;
  readonly clock: Clock;
  readonly slots: number;
  readonly budget: VirtualBudget;
}): VirtualService {
  const { snapshot, targetBuild, fateOf, clock, slots, budget } = given;
  const collectors = new Map(snapshot.collectors.map((collector) => [collector.id, collector]));
  const tasks: Task[] = [];
  const lastTasks = new Map<number, Task>();
  // Builds that collectors run are still on offer.
  const builds = [...new Set([...snapshot.collectors.map(({ build }) => build), targetBuild])].map(
    (version) => ({ version, latest: version === targetBuild }),
  );
  const creates = new Map<number, number>();
  const brokenPromises = new Set<string>();
  let running: EpochMs[] = [];

  const isBusy = (id: number, now: EpochMs) => (lastTasks.get(id)?.endsAt ?? 0) > now;
  const observe = (collector: FleetCollector, now: EpochMs) => {
    const task = lastTasks.get(collector.id);
    const ended = task !== undefined && task.endsAt <= now ? task : undefined;
    if (!collector.alive) return collector;
    const upUntil = Math.min(now, downFrom(ended));
    const lastSeenAlive = Math.floor(upUntil / heartbeatMs) * heartbeatMs;
    const isChanged = ended !== undefined && ended.fate.ends.kind !== 'failed';
    return {
      build: isChanged ? ended.toBuild : (task?.buildBefore ?? collector.build),
      alive: now - lastSeenAlive < deadAfterMs,
      lastSeenAlive,
    };
  };
  /** Counts the requests. @returns the failure during an outage */
  const refuse = (requests: number): Answer<never> | undefined => {
    budget.spend(requests, clock.now());
    return budget.isDown(clock.now()) ? failed(outage) : undefined;
  };
  const pages = Math.max(1, Math.ceil(snapshot.collectors.length / collectorsPerPage));
  const readInventory = async () => {
    const refused = refuse(pages);
    if (refused !== undefined) return refused;
    const now = clock.now();
    const seen = snapshot.collectors.map((collector) => ({ ...collector, ...observe(collector, now) }));
    return ok({ readAt: now, serviceAt: now, collectors: seen });
  };

  /** Only the target build breaks collectors. Any other is a build that the collector ran before. */
  const drawFate = (collectorId: number, toBuild: string): Fate => {
    if (toBuild !== targetBuild) return { ...fateOf(collectorId, 1), ends: { kind: 'succeeded' } };
    const attempt = (creates.get(collectorId) ?? 0) + 1;
    creates.set(collectorId, attempt);
    return fateOf(collectorId, attempt);
  };
  const create = (collectorId: number, toBuild: string): Answer<{ readonly taskId: string }> => {
    const refused = refuse(1);
    if (refused !== undefined) return refused;
    const now = clock.now();
    const collector = collectors.get(collectorId);
    if (collector === undefined) return failed({ kind: 'notFound', detail: 'no such collector' });
    const { build, alive } = observe(collector, now);
    running = running.filter((endsAt) => endsAt > now);
    if (isBusy(collectorId, now)) brokenPromises.add(`a second task beside an open one: ${collectorId}`);
    if (build === toBuild) brokenPromises.add(`a task for the build it runs: ${collectorId}`);
    if (running.length >= slots) brokenPromises.add(`more than ${slots} tasks at once`);
    if (!alive) return failed({ kind: 'refused', code: 'collector.not.alive', detail: '' });
    const fate = drawFate(collectorId, toBuild);
    const task = { buildBefore: build, toBuild, createdAt: now, endsAt: now + fate.durationMs, fate };
    tasks.push(task);
    lastTasks.set(collectorId, task);
    running.push(task.endsAt);
    return ok({ taskId: String(tasks.length) });
  };

  const fleet: FleetService = {
    listBuilds: async () => refuse(1) ?? ok(builds),
    readInventory,
    readFleet: async () => refuse(pages + 1) ?? ok(snapshot),
    readUpgradable: async () => refuse(1) ?? ok(1),
    findCollector: async () => failed({ kind: 'notFound', detail: 'not asked for here' }),
    reserveCreate: async ({ collectorId, toBuild }) =>
      ok({ giveUp: () => {}, send: async () => create(collectorId, toBuild) }),
    pollTask: async (taskId) => {
      const refused = refuse(1);
      if (refused !== undefined) return refused;
      const now = clock.now();
      const task = tasks[Number(taskId) - 1];
      if (task === undefined) return failed({ kind: 'notFound', detail: 'no such task' });
      return ok(sightingOf(task, now));
    },
    pollCollector: async ({ collectorId, upgradableTo }) => {
      const refused = refuse(0);
      if (refused !== undefined) return refused;
      const now = clock.now();
      const collector = collectors.get(collectorId);
      if (collector === undefined) return failed({ kind: 'notFound', detail: 'no such collector' });
      const seen = observe(collector, now);
      const isUpgradable = seen.alive && !isBusy(collectorId, now) && seen.build !== upgradableTo;
      const { build, alive, lastSeenAlive = null } = seen;
      return ok({
        build,
        alive,
        lastSeenAlive,
        serviceAt: now,
        upgradable: upgradableTo === null ? null : isUpgradable,
      });
    },
  };
  const pollRunning = (taskId: string) => {
    const now = clock.now();
    const task = tasks[Number(taskId) - 1];
    if (task === undefined || task.endsAt <= now || budget.isDown(now)) return undefined;
    return { sighting: sightingOf(task, now), endsAt: task.endsAt };
  };
  return { fleet, pollRunning, creates, brokenPromises };
}

function sightingOf({ createdAt, endsAt, fate: { ends } }: Task, now: EpochMs): TaskSighting {
  if (endsAt > now) return { status: now - createdAt < receivedForMs ? 1 : 6, message: '', serviceAt: now };
  if (ends.kind === 'failed') return { status: 3, message: ends.message, serviceAt: now };
  return { status: 2, message: '', serviceAt: now };
}

function downFrom(ended: Task | undefined): EpochMs {
  if (ended?.fate.ends.kind === 'lost') return ended.endsAt;
  if (ended?.fate.ends.kind === 'dies') return ended.endsAt + ended.fate.ends.afterMs;
  return Number.POSITIVE_INFINITY;
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
