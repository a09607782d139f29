import type { collectorManagementApi } from '../../contract/collector-management/api.ts';
import type { HttpRequest, OperationHandlers } from '../../http/operation-handlers.ts';
import { serviceRefusal } from '../fleet/refusals.ts';
import { isAlive, type SimulatedCollector } from '../fleet/simulated-collector.ts';
import { collectorETag, collectorView } from '../fleet/views.ts';
import type { World } from '../fleet/world.ts';
import type { Caller, Callers } from './callers.ts';

/** Characters that are not supported in a name in a path, even encoded (collector-api.md §4.1, Rules for Get by name). */
const unsupportedInPath = /[;/%\\]/;

/** Operations on collectors (collector-api.md §4.1). */
export function makeCollectorHandlers(callers: Callers) {
  const worldOf = (request: HttpRequest) => callers.of(request).account.world;
  return {
    async listCollectors({ query }, request) {
      const world = worldOf(request);
      const now = world.now();
      const listed = world.collectors().filter((collector) => passesFilter(query.filter, collector, now));
      return listAnswer(listed, query, callers.of(request));
    },
    async listOfflineCollectors({ query }, request) {
      const offline = worldOf(request).offlineCollectors(query.aliveBeforeDays);
      return listAnswer(offline, query, callers.of(request));
    },
    async deleteOfflineCollectors({ query }, request) {
      worldOf(request).deleteOfflineCollectors(query.aliveBeforeDays);
      return {
        body: { message: 'The delete task has been initiated: GET collectors/offline shows its course.' },
      };
    },
    async getCollector({ params }, request) {
      const world = worldOf(request);
      return tagged(knownCollector(world, params.id), world.now());
    },
    async getCollectorByName({ params }, request) {
      const world = worldOf(request);
      const named = isNameReachable(params.name, request) ? world.collectorNamed(params.name) : undefined;
      if (named === undefined) throw serviceRefusal('InvalidCollector');
      return tagged(named, world.now());
    },
    async createCollector({ body }, request) {
      const world = worldOf(request);
      return { body: { collector: collectorView(world.createCollector(body.collector), world.now()) } };
    },
    async updateCollector({ params, body }, request) {
      const world = worldOf(request);
      const collector = knownCollector(world, params.id);
      world.updateCollector(collector, { stated: body.collector, ifMatch: request.headers['if-match'] });
      return { body: { collector: collectorView(collector, world.now()) } };
    },
    async deleteCollector({ params }, request) {
      const world = worldOf(request);
      world.remove(knownCollector(world, params.id).facts.id);
      return { body: undefined };
    },
  } satisfies Partial<OperationHandlers<typeof collectorManagementApi>>;
}

/** @throws RefusedRequest `InvalidCollector` */
export function knownCollector(world: World, id: number): SimulatedCollector {
  const collector = world.collector(id);
  if (collector === undefined) throw serviceRefusal('InvalidCollector');
  return collector;
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

/** A name with a period needs a trailing slash in the URL (collector-api.md §4.1). */
function isNameReachable(name: string, request: HttpRequest): boolean {
  if (unsupportedInPath.test(name)) return false;
  return !name.includes('.') || request.url.split('?', 1)[0]?.endsWith('/') === true;
}

function tagged(collector: SimulatedCollector, now: number) {
  return { headers: { etag: collectorETag(collector) }, body: { collector: collectorView(collector, now) } };
}

/** One page of a list, empty past the end (field-facts.md, The wire), of the collectors that the caller is shown. */
export function listAnswer(
  collectors: readonly SimulatedCollector[],
  page: { readonly offset: number; readonly limit: number },
  { account, isShown = () => true, rankOf }: Caller,
) {
  const now = account.world.now();
  const visible = collectors.filter(({ facts }) => isShown(facts.id));
  if (rankOf !== undefined) visible.sort((a, b) => rankOf(a.facts.id) - rankOf(b.facts.id));
  const listed = visible.slice(page.offset, page.offset + page.limit);
  return { body: { collectors: listed.map((collector) => collectorView(collector, now)) } };
}
