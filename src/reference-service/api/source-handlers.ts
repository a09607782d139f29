import type { collectorManagementApi } from '../../contract/collector-management/api.ts';
import type { HttpRequest, OperationHandlers } from '../../http/operation-handlers.ts';
import { documentHead, downloadedSource, sourceETag, sourceView } from '../fleet/views.ts';
import type { World } from '../fleet/world.ts';
import type { Callers } from './callers.ts';
import { knownCollector } from './collector-handlers.ts';
import { unknownSource } from './error-answers.ts';

/** The sources of a collector (collector-api.md §4.2). */
export function makeSourceHandlers(callers: Callers) {
  const worldOf = (request: HttpRequest) => callers.of(request).account.world;
  return {
    async listSources({ params, query }, request) {
      const world = worldOf(request);
      const collector = knownCollector(world, params.collectorId);
      const now = world.now();
      const sources = world.sources.of(collector, now);
      if (query.download) return { body: { ...documentHead, sources: sources.map(downloadedSource) } };
      return { body: { sources: sources.map((source) => sourceView(source, collector, now)) } };
    },
    async getSource({ params, query }, request) {
      const world = worldOf(request);
      const { collector, source } = knownSource(world, params);
      const headers = { etag: sourceETag(source) };
      if (query.download) return { headers, body: { ...documentHead, source: downloadedSource(source) } };
      return { headers, body: { source: sourceView(source, collector, world.now()) } };
    },
    async createSource({ params, body }, request) {
      const world = worldOf(request);
      const collector = knownCollector(world, params.collectorId);
      const source = world.createSource(collector, body.source);
      return { body: { source: sourceView(source, collector, world.now()) } };
    },
    async updateSource({ params, body }, request) {
      const world = worldOf(request);
      const { collector, source } = knownSource(world, params);
      const update = { stated: body.source, ifMatch: request.headers['if-match'] };
      const updated = world.updateSource(collector, source, update);
      return { body: { source: sourceView(updated, collector, world.now()) } };
    },
    async deleteSource({ params }, request) {
      const world = worldOf(request);
      const { collector, source } = knownSource(world, params);
      world.deleteSource(collector, source);
      return { body: undefined };
    },
  } satisfies Partial<OperationHandlers<typeof collectorManagementApi>>;
}

function knownSource(world: World, ids: { readonly collectorId: number; readonly sourceId: number }) {
  const collector = knownCollector(world, ids.collectorId);
  const source = world.sources.find(collector, ids.sourceId, world.now());
  if (source === undefined) throw unknownSource();
  return { collector, source };
}
