import type { EpochMs } from '../../../src/base/time.ts';
import type { Answer } from '../../../src/orchestrator/ports/fleet-service.ts';
import {
  isAlive,
  type SimulatedCollector,
} from '../../../src/reference-service/fleet/simulated-collector.ts';
import { taskStatusAt } from '../../../src/reference-service/fleet/task-script.ts';
import type { SimulatedTask } from '../../../src/reference-service/fleet/upgrade-tasks.ts';
import { collectorView } from '../../../src/reference-service/fleet/views.ts';
import type { World } from '../../../src/reference-service/fleet/world.ts';
import { RefusedRequest } from '../../../src/reference-service/scenario/refused-request.ts';

/** How a service differs from the reference service. */
export interface Wire {
  /** No page has more rows. */
  readonly pageRowsMax?: number;
  /** Upgradable lists also show collectors with a running task. */
  readonly listsRunning?: boolean;
  /** Upgradable lists leave out collectors that a task would downgrade. */
  readonly listsNoDowngrades?: boolean;
  /** The collectors that a list shows, in its order. Default: all, by their registration. */
  readonly listed?: (collectors: readonly SimulatedCollector[]) => readonly SimulatedCollector[];
  /** The status that a task has after its successful end. Default: 2. */
  readonly endStatusOf?: (task: SimulatedTask) => number;
}

export interface ServiceInput {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

export type View = ReturnType<typeof collectorView>;

/** What the service did and showed, as it answered. */
export interface ServiceObservers {
  readonly onShown?: (view: View) => void;
  readonly onCreated?: (task: SimulatedTask) => void;
  readonly onEnded?: (task: SimulatedTask) => void;
}

const notFound = { ok: false, failure: { kind: 'notFound', detail: 'there is none' } } as const;

/** The answers of a world at its present instant, by the name of the operation, as the wire reads them. */
export function makeServiceAnswers(
  world: World,
  wire: Wire,
  { onShown, onCreated, onEnded }: ServiceObservers = {},
): (name: string, input: ServiceInput) => Answer<unknown> {
  const show = (collector: SimulatedCollector, now: EpochMs): View => {
    const view = collectorView(collector, now);
    onShown?.(view);
    return view;
  };
  const page = (all: readonly SimulatedCollector[], { offset, limit }: ServiceInput['query'] = {}) => {
    const from = Number(offset ?? 0);
    const count = Math.min(Number(limit ?? 50), wire.pageRowsMax ?? Number.POSITIVE_INFINITY);
    const listed = wire.listed?.(all) ?? all;
    const now = world.now();
    return { rows: listed.slice(from, from + count).map((each) => show(each, now)), weight: 1 };
  };
  const one = (collector: SimulatedCollector | undefined) =>
    collector === undefined ? undefined : { collector: show(collector, world.now()) };
  /** @returns undefined where there is no such thing */
  const bodies: Readonly<Record<string, (input: ServiceInput) => unknown>> = {
    listUpgradeTargets: () => {
      const latest = world.builds.latest(world.now());
      const builds = world.builds.offered(world.now());
      return { rows: builds.map((version) => ({ version, latest: version === latest })), weight: 1 };
    },
    listCollectors: ({ query }) => page(world.collectors(), query),
    listUpgradableCollectors: ({ query }) =>
      page(upgradable(world, wire, String(query?.['toVersion'])), query),
    getCollector: ({ params }) => one(world.collector(Number(params?.['id']))),
    getCollectorByName: ({ params }) => one(world.collectorNamed(String(params?.['name']))),
    getUpgradeTask: ({ params }) => {
      const task = world.task(String(params?.['upgradeTaskId']));
      if (task === undefined) return undefined;
      const { id, script } = task;
      const now = world.now();
      const isOver = now >= script.endsAt;
      if (isOver) onEnded?.(task);
      const isDone = isOver && script.endStatus === 2;
      const status = (isDone ? wire.endStatusOf?.(task) : undefined) ?? taskStatusAt(script, now);
      return { upgrade: { id, status, message: isOver ? script.message : '' } };
    },
    createUpgradeTask: ({ body }) => {
      const collectorId = Number(body?.['collectorId']);
      const task = world.createTask({ collectorId, toVersion: String(body?.['toVersion']), by: 'api' });
      onCreated?.(task);
      return { id: task.id };
    },
  };
  return (name, input) => {
    const make = bodies[name];
    if (make === undefined) throw new Error(`${name} is not played`);
    try {
      const value = make(input);
      return value === undefined ? notFound : { ok: true, value };
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      const { code, status, message: detail } = error;
      return { ok: false, failure: { kind: 'refused', code, status, detail } };
    }
  };
}

function upgradable(world: World, wire: Wire, asked: string): readonly SimulatedCollector[] {
  const toVersion = world.targetVersion(asked);
  const offered = world.upgradableTo(toVersion);
  if (wire.listsRunning !== true && wire.listsNoDowngrades !== true) return offered;
  const now = world.now();
  const ids = new Set(offered.map(({ facts }) => facts.id));
  return world.collectors().filter((collector) => {
    const { facts, life } = collector;
    const isRunning = wire.listsRunning === true && isAlive(collector, now) && life.version !== toVersion;
    const isKept = wire.listsNoDowngrades !== true || life.version < toVersion;
    return (ids.has(facts.id) || isRunning) && isKept;
  });
}
