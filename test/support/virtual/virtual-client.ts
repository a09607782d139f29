import { seededChance } from '../../../src/base/chance.ts';
import type { ServedAnswer } from '../../../src/collector-api/wire/service-call.ts';
import type { ServiceClient } from '../../../src/collector-api/wire/service-client.ts';
import { makeWaitingLine } from '../../../src/redis/api-budget/waiting-line.ts';
import {
  isAlive,
  lastHeartbeatAt,
  type SimulatedCollector,
} from '../../../src/reference-service/fleet/simulated-collector.ts';
import { taskStatusAt } from '../../../src/reference-service/fleet/task-script.ts';
import type { SimulatedTask } from '../../../src/reference-service/fleet/upgrade-tasks.ts';
import { collectorView } from '../../../src/reference-service/fleet/views.ts';
import type { World } from '../../../src/reference-service/fleet/world.ts';
import { ServiceFailure } from '../../../src/reference-service/scenario/service-failure.ts';
import type { Scheduler } from '../../simulation/world/scheduler.ts';

/** How a service differs from the reference service. */
export interface Wire {
  /** No page has more rows. */
  readonly pageRowsMax?: number;
  /** Upgradable lists also show collectors with a running task. */
  readonly listsRunning?: boolean;
  /** Upgradable lists leave out collectors that a task would downgrade. */
  readonly listsNoDowngrades?: boolean;
  /** The share of requests that get a page of a gateway. */
  readonly htmlShare?: number;
  /** The status of successful tasks, and the share of tasks with it. */
  readonly endStatus?: { readonly status: number; readonly share: number };
  /** Instants between which no request gets its place, as in an outage. */
  readonly outage?: { readonly from: number; readonly to: number };
}

/** What the service saw. */
export interface ServiceLog {
  readonly requests: Map<string, number>;
  readonly tasks: SimulatedTask[];
  /** When an answer first showed that a task had ended, by the id of the task. */
  readonly endSeenAt: Map<string, number>;
}

const travelMs = 60;

/**
 * The client of a service in virtual time: the reference service's world behind an API budget with evenly spaced places. A
 * request takes its place by the daemon's own order.
 */
export function makeVirtualClient(of: {
  readonly scheduler: Scheduler;
  readonly world: World;
  readonly wire: Wire;
  readonly requestsPerSecond: number;
  readonly seed: number;
}): { readonly client: ServiceClient; readonly log: ServiceLog } {
  const { scheduler, wire, requestsPerSecond } = of;
  const chance = seededChance(of.seed);
  const log: ServiceLog = { requests: new Map(), tasks: [], endSeenAt: new Map() };
  const line = makeWaitingLine<() => void>();
  const spacingMs = 1_000 / requestsPerSecond;
  let freeAt = 0;
  let isAsked = false;
  const wait = (forMs: number) =>
    new Promise<void>((resolve) => scheduler.at(scheduler.now() + forMs, resolve));
  const firstUp = (at: number) => {
    const { from, to } = wire.outage ?? { from: at, to: at };
    return from <= at && at < to ? to : at;
  };
  const serveNext = (): void => {
    if (isAsked || line.size === 0) return;
    isAsked = true;
    scheduler.at(firstUp(Math.max(scheduler.now(), freeAt)), () => {
      isAsked = false;
      freeAt = Math.max(freeAt, scheduler.now()) + spacingMs;
      line.takeNext()?.();
      serveNext();
    });
  };
  const place = (budgetClass: Parameters<typeof line.add>[0]) =>
    new Promise<void>((resolve) => {
      line.add(budgetClass, resolve);
      serveNext();
    });
  const answer = makeAnswers(of, log, chance);
  const exchange = async (name: string, input: Input): Promise<ServedAnswer<unknown>> => {
    log.requests.set(name, (log.requests.get(name) ?? 0) + 1);
    await wait(travelMs / 2);
    const isHtml = chance() < (wire.htmlShare ?? 0);
    const served = isHtml ? html : answer(name, input);
    await wait(travelMs / 2);
    return served;
  };
  const client: ServiceClient = {
    call: async (operation, input, { budgetClass, onSend }) => {
      await place(budgetClass);
      onSend?.();
      return (await exchange(operation.name, input as Input)) as never;
    },
    reserve: async (operation, input, { budgetClass }) => {
      await place(budgetClass);
      const send = async () => (await exchange(operation.name, input as Input)) as never;
      return { ok: true, value: { giveUp: () => undefined, send } };
    },
    redactor: () => (text) => text,
    close: async () => undefined,
  };
  return { client, log };
}

interface Input {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

const html = {
  ok: false,
  failure: { kind: 'unavailable', sent: true, detail: '502 with an HTML page' },
} as const;

/** The fields of a collector that readers of an upgradable list use. Plays read a thousand lists of a thousand rows. */
function listedView(collector: SimulatedCollector, now: number) {
  const { id, collectorType } = collector.facts;
  const { version: collectorVersion } = collector.life;
  const lastSeenAlive = lastHeartbeatAt(collector.life, now);
  return { id, collectorType, collectorVersion, alive: isAlive(collector, now), lastSeenAlive };
}

/** The answers of the service at this instant. */
function makeAnswers(
  { scheduler, world, wire }: Parameters<typeof makeVirtualClient>[0],
  log: ServiceLog,
  chance: () => number,
): (name: string, input: Input) => ServedAnswer<unknown> {
  const unusualEnds = new Set<string>();
  const page = <Item>(
    items: readonly Item[],
    { offset, limit }: Readonly<Record<string, unknown>> = {},
    rowOf: (item: Item) => unknown,
  ) => {
    const from = Number(offset ?? 0);
    const count = Math.min(Number(limit ?? 50), wire.pageRowsMax ?? Number.POSITIVE_INFINITY);
    return { rows: items.slice(from, from + count).map(rowOf), weight: 1 };
  };
  const bodies: Readonly<Record<string, (input: Input) => unknown>> = {
    listUpgradeTargets: () => {
      const latest = world.builds.latest(world.now());
      const builds = world.builds.offered(world.now());
      return { rows: builds.map((version) => ({ version, latest: version === latest })), weight: 1 };
    },
    listCollectors: ({ query }) =>
      page(world.collectors(), query, (collector) => ({
        ...collector.facts,
        ...listedView(collector, world.now()),
      })),
    listUpgradableCollectors: ({ query }) => {
      const toVersion = world.targetVersion(String(query?.['toVersion']));
      const now = world.now();
      const upgradable = world.upgradableTo(toVersion);
      const isShown = (collector: SimulatedCollector) =>
        upgradable.includes(collector) || (isAlive(collector, now) && collector.life.version !== toVersion);
      const listed = wire.listsRunning === true ? world.collectors().filter(isShown) : upgradable;
      const isKept = ({ life }: SimulatedCollector) => life.version < toVersion;
      const collectors = wire.listsNoDowngrades === true ? listed.filter(isKept) : listed;
      return page(collectors, query, (collector) => listedView(collector, now));
    },
    getCollector: ({ params }) => {
      const collector = world.collector(Number(params?.['id']));
      if (collector === undefined) throw new Error('no such collector');
      return { collector: collectorView(collector, world.now()) };
    },
    getUpgradeTask: ({ params }) => {
      const task = world.task(String(params?.['upgradeTaskId']));
      if (task === undefined) throw new Error('no such task');
      const now = world.now();
      const status = taskStatusAt(task.script, now);
      const isOver = now >= task.script.endsAt;
      if (isOver && !log.endSeenAt.has(task.id)) log.endSeenAt.set(task.id, now);
      const shown = status === 2 && unusualEnds.has(task.id) ? wire.endStatus?.status : status;
      return { upgrade: { id: task.id, status: shown, message: isOver ? task.script.message : '' } };
    },
    createUpgradeTask: ({ body }) => {
      const collectorId = Number(body?.['collectorId']);
      const task = world.createTask({ collectorId, toVersion: String(body?.['toVersion']), by: 'api' });
      log.tasks.push(task);
      if (chance() < (wire.endStatus?.share ?? 0)) unusualEnds.add(task.id);
      return { id: task.id };
    },
  };
  return (name, input) => {
    const serviceAt = Math.floor(scheduler.now() / 1_000) * 1_000;
    try {
      const body = bodies[name]?.(input);
      if (body === undefined) throw new Error(`${name} is not played`);
      return { ok: true, value: { body, serviceAt, etag: null } };
    } catch (error) {
      if (!(error instanceof ServiceFailure)) throw error;
      const { code, status, message: detail } = error;
      return { ok: false, failure: { kind: 'refused', code, status, detail } };
    }
  };
}
