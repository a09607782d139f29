import type { Collector } from '../../contract/collector-management/collectors.ts';
import { deleteCollector, deleteOfflineCollectors } from '../../contract/collector-management/collectors.ts';
import { collectorAccess } from '../../contract/collector-management/field-access.ts';
import { pageCollectors, pageOfflineCollectors } from '../../contract/collector-management/listed-rows.ts';
import {
  type KeptCollector,
  makeCollector,
  readCollector,
  readCollectorByName,
  writeCollector,
} from '../../contract/collector-management/write-back.ts';
import { type Answer, mapAnswer } from '../../orchestrator/ports/fleet-service.ts';
import { requestByName } from '../wire/collector-name.ts';
import {
  type ChangeOptions,
  changeResource,
  type Edit,
  type Tagged,
  withoutServiceFields,
} from './change-resource.ts';
import { bodyOf, type RetryingClient } from './retrying-client.ts';

export type CollectorFilter = 'installed' | 'hosted' | 'dead' | 'alive';

/** The fields for a new hosted collector. Further fields as in collector-api.md §2.1. */
export interface HostedCollectorDraft {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** All operations on collectors (collector-api.md §4.1). */
export function makeCollectorClient(client: RetryingClient) {
  const days = (aliveBeforeDays: number | undefined) =>
    aliveBeforeDays === undefined ? {} : { aliveBeforeDays };

  async function get(id: number, signal?: AbortSignal): Promise<Answer<Tagged<KeptCollector>>> {
    return mapAnswer(await client.call(readCollector, { params: { id } }, { signal }), taggedOf);
  }

  async function update(
    collector: KeptCollector,
    etag: string,
    signal?: AbortSignal,
  ): Promise<Answer<KeptCollector>> {
    const input = { params: { id: collector.id }, body: { collector } };
    return mapAnswer(await client.call(writeCollector, input, { ifMatch: etag, signal }), collectorOf);
  }

  return {
    /** Lists all collectors. */
    list: (filter?: CollectorFilter, signal?: AbortSignal): Promise<Answer<readonly Collector[]>> =>
      client.readAll((page) => {
        const query = filter === undefined ? page : { filter, ...page };
        return client.callOnce(pageCollectors, { query }, { signal });
      }, signal),

    /** Lists installed collectors that were last seen alive at least this many days ago. Default: 100. */
    listOffline: (aliveBeforeDays?: number, signal?: AbortSignal): Promise<Answer<readonly Collector[]>> =>
      client.readAll((page) => {
        const query = { ...days(aliveBeforeDays), ...page };
        return client.callOnce(pageOfflineCollectors, { query }, { signal });
      }, signal),

    get,

    /** Refuses names that the API can't express: those with `;`, `/`, `%` or `\`. */
    async getByName(name: string, signal?: AbortSignal) {
      const answer = await requestByName(name, ({ params, trailingSlash }) =>
        client.call(readCollectorByName, { params }, { trailingSlash, signal }),
      );
      return mapAnswer(answer, taggedOf);
    },

    /** Creates a hosted collector. Fields that the service sets itself are not sent. */
    async create(draft: HostedCollectorDraft, signal?: AbortSignal) {
      const stated = withoutServiceFields(draft, ['id', ...collectorAccess.transient]);
      const body = { collector: { collectorType: 'Hosted', ...stated } };
      return mapAnswer(await client.call(makeCollector, { body }, { signal }), collectorOf);
    },

    /** Replaces the whole collector. `etag` is that of the GET it is based on. */
    update,

    /** Reads, edits and writes a collector; after a conflict once more. */
    change: (
      id: number,
      edit: Edit<KeptCollector>,
      { onConflict, signal }: ChangeOptions<KeptCollector> = {},
    ) =>
      changeResource({
        access: collectorAccess,
        read: () => get(id, signal),
        write: (collector, etag) => update(collector, etag, signal),
        edit,
        onConflict,
      }),

    async delete(id: number, signal?: AbortSignal) {
      return mapAnswer(await client.call(deleteCollector, { params: { id } }, { signal }), () => null);
    },

    /** Starts a deletion that continues after the response. The value is the service's message, whatever its shape. */
    async deleteOffline(aliveBeforeDays?: number, signal?: AbortSignal): Promise<Answer<unknown>> {
      const query = days(aliveBeforeDays);
      return bodyOf(await client.call(deleteOfflineCollectors, { query }, { signal }));
    },
  };
}

interface Served {
  readonly body: { readonly collector: KeptCollector };
  readonly etag: string | null;
}

const collectorOf = ({ body }: Served) => body.collector;
const taggedOf = ({ body, etag }: Served) => ({ resource: body.collector, etag });
