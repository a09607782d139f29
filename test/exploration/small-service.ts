import type { EpochMs } from '../../src/base/time.ts';
import type { Answer } from '../../src/orchestrator/ports/fleet-service.ts';
import type { CollectorObservation, RowObservation, TaskSighting } from '../../src/rollout/upgrade/facts.ts';
import { oldBuild, targetBuild } from '../support/builders.ts';

/** One upgrade task at the service. */
export interface SmallTask {
  readonly id: string;
  readonly collectorId: number;
  readonly rolloutId: string;
  readonly createdAt: EpochMs;
  readonly end: 'running' | 'succeeded' | 'failed';
}

export interface SmallCollector {
  readonly id: number;
  readonly build: string;
  /** Since when it restarts at the end of a task. Until it is back it shows its old build, and is listed as upgradable. */
  readonly restartsSince: EpochMs | null;
  /** Its last restart, for rows of lists that show a moment before; null where no list is read. */
  readonly restarted: { readonly from: EpochMs; readonly until: EpochMs } | null;
}

/** A service with a few collectors, as data: it does nothing by itself. */
export interface SmallService {
  readonly collectors: readonly SmallCollector[];
  readonly tasks: readonly SmallTask[];
  readonly isOffered: boolean;
}

/** The service ends a task by itself then (collector-api.md §3). */
export const taskTimeoutMs = 30 * 60_000;

// A restart takes less than the time within which upwave expects the collector back.
export const restartMaxMs = 120_000;

export function aSmallService(size: number): SmallService {
  const collectors = Array.from({ length: size }, (_, index) => ({
    id: index + 1,
    build: oldBuild,
    restartsSince: null,
    restarted: null,
  }));
  return { collectors, tasks: [], isOffered: true };
}

export function collectorOf({ collectors }: SmallService, id: number): SmallCollector {
  const found = collectors.find((collector) => collector.id === id);
  if (found === undefined) throw new Error(`there is no collector ${id}`);
  return found;
}

export function isRunningTask({ end }: SmallTask): boolean {
  return end === 'running';
}

export function runningTaskOf({ tasks }: SmallService, collectorId: number): SmallTask | undefined {
  return tasks.find((task) => task.collectorId === collectorId && isRunningTask(task));
}

/** A create arrives. It is accepted right after the end of a task, as by a service that frees its mark early. */
export function create(
  service: SmallService,
  of: { readonly collectorId: number; readonly rolloutId: string; readonly at: EpochMs },
): { readonly service: SmallService; readonly answer: Answer<{ readonly taskId: string }> } {
  const { collectorId, rolloutId, at } = of;
  const collector = collectorOf(service, collectorId);
  const refused = (code: string) => ({ service, answer: refusal(code) });
  if (runningTaskOf(service, collectorId) !== undefined) return refused('collector.in.upgrading');
  if (!service.isOffered || collector.build === targetBuild) return refused('collector.version.invalid');
  const id = `task-${service.tasks.length + 1}`;
  const task: SmallTask = { id, collectorId, rolloutId, createdAt: at, end: 'running' };
  return {
    service: { ...service, tasks: [...service.tasks, task] },
    answer: { ok: true, value: { taskId: id } },
  };
}

/** A task ends. After a success its collector restarts, and is back on the build later. */
export function endTask(
  service: SmallService,
  taskId: string,
  { end, at }: { readonly end: 'succeeded' | 'failed'; readonly at: EpochMs },
): SmallService {
  const tasks = service.tasks.map((task) => (task.id === taskId ? { ...task, end } : task));
  const collectorId = service.tasks.find(({ id }) => id === taskId)?.collectorId;
  const collectors = service.collectors.map((collector) =>
    collector.id === collectorId && end === 'succeeded' ? { ...collector, restartsSince: at } : collector,
  );
  return { ...service, tasks, collectors };
}

/** @param at null where no list is read */
export function comeBack(service: SmallService, collectorId: number, at: EpochMs | null): SmallService {
  const collectors = service.collectors.map((collector) => {
    if (collector.id !== collectorId) return collector;
    const { restartsSince: from } = collector;
    const restarted = from === null || at === null ? null : { from, until: at };
    return { ...collector, build: targetBuild, restartsSince: null, restarted };
  });
  return { ...service, collectors };
}

/**
 * The row of a list that was read the moment before. What happens at this instant is not in it, so an actor that is run again
 * later finds the same row.
 */
export function rowBefore(service: SmallService, collectorId: number, now: EpochMs): RowObservation {
  const { build, restartsSince, restarted } = collectorOf(service, collectorId);
  const at = now - 1;
  const isBack = restarted === null ? build === targetBuild : restarted.until <= at;
  const from = restarted?.from ?? restartsSince ?? Number.POSITIVE_INFINITY;
  return {
    at,
    build: isBack ? targetBuild : oldBuild,
    alive: true,
    lastSeenAlive: isBack || from > at ? at : from,
    serviceAt: at,
    offered: undefined,
  };
}

export function pollTask(service: SmallService, taskId: string, now: EpochMs): Answer<TaskSighting> {
  const task = service.tasks.find(({ id }) => id === taskId);
  if (task === undefined) return { ok: false, failure: { kind: 'notFound', detail: 'no such task' } };
  const message = task.end === 'failed' ? 'gremlins' : '';
  return { ok: true, value: { status: statusOf[task.end], message, serviceAt: now } };
}

const statusOf = { running: 1, succeeded: 2, failed: 3 } as const;

export function pollCollector(
  service: SmallService,
  { collectorId, upgradableTo }: { readonly collectorId: number; readonly upgradableTo: string | null },
  now: EpochMs,
): Answer<CollectorObservation> {
  const { build, restartsSince } = collectorOf(service, collectorId);
  const isListed =
    service.isOffered && build !== upgradableTo && runningTaskOf(service, collectorId) === undefined;
  return {
    ok: true,
    value: {
      build,
      alive: true,
      lastSeenAlive: restartsSince ?? now,
      serviceAt: now,
      upgradable: upgradableTo === null ? null : isListed,
      ...(upgradableTo !== null && isListed ? { offeredAt: now } : {}),
    },
  };
}

function refusal(code: string): Answer<never> {
  return { ok: false, failure: { kind: 'refused', code, detail: '' } };
}
