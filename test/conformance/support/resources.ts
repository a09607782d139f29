import { etagOf, read } from './answers.ts';
import type { Api, ApiAnswer, ApiRequest } from './api.ts';
import {
  CollectorList,
  type CollectorShape,
  CreatedUpgradeShape,
  OneCollector,
  OneSource,
  OneUpgrade,
  SourceList,
  type SourceShape,
  TargetList,
} from './wire-shapes.ts';

// What tests read and write most often. Each fails with the answer where it is none of the documented form.

/** @param path of a list of collectors, with its query */
export async function listCollectors(api: Api, path = '/collectors'): Promise<readonly CollectorShape[]> {
  return read(CollectorList, await api.get(path)).collectors;
}

export function idsOf(all: ReadonlyArray<{ readonly id: number }>): readonly number[] {
  return all.map(({ id }) => id);
}

export async function getCollector(api: Api, id: number): Promise<CollectorShape> {
  return read(OneCollector, await api.get(`/collectors/${id}`)).collector;
}

/** @throws where the fleet has none */
export async function findCollector(
  api: Api,
  holds: (collector: CollectorShape) => boolean,
): Promise<CollectorShape> {
  const found = (await listCollectors(api, '/collectors?filter=installed&limit=1000')).find(holds);
  if (found === undefined) throw new Error('the fleet has no such Installed Collector');
  return found;
}

/** A living Installed Collector whose sources are managed by this API. */
export function findInstalled(api: Api): Promise<CollectorShape> {
  return findCollector(api, ({ alive, sourceSyncMode }) => alive && sourceSyncMode === 'UI');
}

export async function listSources(api: Api, collectorId: number): Promise<readonly SourceShape[]> {
  return read(SourceList, await api.get(`/collectors/${collectorId}/sources`)).sources;
}

export async function listBuilds(api: Api) {
  return read(TargetList, await api.get('/collectors/upgrades/targets')).targets;
}

export async function latestBuild(api: Api): Promise<string> {
  return (await listBuilds(api)).find(({ latest }) => latest)?.version ?? '';
}

/** @param query with its question mark */
export function listUpgradable(api: Api, query = ''): Promise<readonly CollectorShape[]> {
  return listCollectors(api, `/collectors/upgrades/collectors${query}`);
}

/** @throws where none can be upgraded */
export async function upgradableId(api: Api): Promise<number> {
  const [first] = await listUpgradable(api, '?limit=1');
  if (first === undefined) throw new Error('no collector can be upgraded');
  return first.id;
}

/** @returns the id of the task */
export async function createTask(
  api: Api,
  collectorId: number | undefined,
  more: { readonly toVersion?: string | undefined } = {},
): Promise<string> {
  return read(CreatedUpgradeShape, await api.post('/collectors/upgrades', { collectorId, ...more })).id;
}

export async function getTask(api: Api, id: string) {
  return read(OneUpgrade, await api.get(`/collectors/upgrades/${id}`)).upgrade;
}

export interface OpenedResource {
  readonly answer: ApiAnswer;
  /** Every field that the GET showed. */
  readonly stated: Readonly<Record<string, unknown>>;
  readonly etag: string;
  /** Writes back what was stated, with changes. @param etag null leaves `If-Match` out */
  put(changes: Readonly<Record<string, unknown>>, etag?: string | null): Promise<ApiAnswer>;
}

/** Reads a collector or a source, to change it as §4.4 asks. */
export async function openResource(api: Api, path: string, request?: ApiRequest): Promise<OpenedResource> {
  const answer = await api.get(path, request);
  const isSource = path.includes('/sources/');
  const stated: Record<string, unknown> = isSource
    ? read(OneSource, answer).source
    : read(OneCollector, answer).collector;
  const etag = etagOf(answer);
  const kind = isSource ? 'source' : 'collector';
  return {
    answer,
    stated,
    etag,
    put: (changes, given = etag) => api.put(path, { [kind]: { ...stated, ...changes } }, given ?? undefined),
  };
}
