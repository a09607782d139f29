import type {
  getCollector,
  getCollectorByName,
  listCollectors,
  listOfflineCollectors,
} from '../contract/collector-operations.ts';
import type { HttpRequest, OperationHandlers } from '../http/http-exchange.ts';
import { collectorETag, collectorView } from './collector-view.ts';
import { pageOf } from './page-of.ts';
import { ServiceFailure } from './service-failure.ts';
import { isAlive, lastHeartbeatAt, type SimulatedCollector } from './simulated-collector.ts';
import type { World } from './world.ts';

type CollectorOperations = readonly [
  typeof listCollectors,
  typeof listOfflineCollectors,
  typeof getCollector,
  typeof getCollectorByName,
];

const dayMs = 86_400_000;

/** Characters that a name in a path may not have, even encoded (collector-api.md §4.1, Rules for Get by name). */
const unsupportedInPath = /[;/%\\]/;

/** Reading collectors (collector-api.md §4.1). */
export function makeCollectorHandlers(world: World): OperationHandlers<CollectorOperations> {
  return {
    async listCollectors({ query }) {
      const now = world.now();
      const listed = world.collectors().filter((collector) => passesFilter(query.filter, collector, now));
      return {
        body: { collectors: pageOf(listed, query).map((collector) => collectorView(collector, now)) },
      };
    },
    async listOfflineCollectors({ query }) {
      const now = world.now();
      const offline = world
        .collectors()
        .filter(({ facts }) => facts.collectorType === 'Installable')
        .filter((collector) => !isAlive(collector, now))
        .filter(({ life }) => now - lastHeartbeatAt(life, now) >= query.aliveBeforeDays * dayMs);
      return {
        body: { collectors: pageOf(offline, query).map((collector) => collectorView(collector, now)) },
      };
    },
    async getCollector({ params }) {
      return shown(world.collector(params.id), world.now());
    },
    async getCollectorByName({ params }, request) {
      return shown(
        isNameReachable(params.name, request) ? world.collectorNamed(params.name) : undefined,
        world.now(),
      );
    },
  };
}

function passesFilter(
  filter: 'installed' | 'hosted' | 'dead' | 'alive' | undefined,
  collector: SimulatedCollector,
  now: number,
): boolean {
  switch (filter) {
    case 'installed':
      return collector.facts.collectorType === 'Installable';
    case 'hosted':
      return collector.facts.collectorType === 'Hosted';
    case 'alive':
      return isAlive(collector, now);
    case 'dead':
      return !isAlive(collector, now);
    case undefined:
      return true;
  }
}

/** A name with a period needs a slash at the end of the URL (collector-api.md §4.1). */
function isNameReachable(name: string, request: HttpRequest): boolean {
  if (unsupportedInPath.test(name)) return false;
  return !name.includes('.') || request.url.split('?', 1)[0]?.endsWith('/') === true;
}

function shown(collector: SimulatedCollector | undefined, now: number) {
  if (collector === undefined) {
    throw new ServiceFailure(404, 'InvalidCollector', 'the specified collector ID is invalid');
  }
  return { headers: { etag: collectorETag(collector) }, body: { collector: collectorView(collector, now) } };
}
