import { sourceAccess } from '../../contract/collector-management/field-access.ts';
import { type ListedSource, pageSources } from '../../contract/collector-management/listed-rows.ts';
import { deleteSource } from '../../contract/collector-management/sources.ts';
import {
  downloadSource,
  downloadSources,
  type KeptSource,
  makeSource,
  readSource,
  writeSource,
} from '../../contract/collector-management/write-back.ts';
import { type Answer, mapAnswer } from '../../orchestrator/ports/fleet-service.ts';
import {
  type ChangeOptions,
  changeResource,
  type Edit,
  type Tagged,
  withoutServiceFields,
} from './change-resource.ts';
import { bodyOf, type RetryingClient } from './retrying-client.ts';

/** Identifies a source: its id is unique only within its collector. */
export interface SourcePlace {
  readonly collectorId: number;
  readonly sourceId: number;
}

/** The fields for a new source. Further fields depend on its type (collector-api.md §2.2). */
export interface SourceDraft {
  readonly sourceType: string;
  readonly [field: string]: unknown;
}

/** A document that can register a new collector: `api.version`, and `sources` or `source` without `id` and `alive`. */
export type SourceDocument = Readonly<Record<string, unknown>>;

/** All operations on the sources of a collector (collector-api.md §4.2). */
export function makeSourceClient(client: RetryingClient) {
  async function get(params: SourcePlace, signal?: AbortSignal): Promise<Answer<Tagged<KeptSource>>> {
    const answer = await client.call(readSource, { params }, { signal });
    return mapAnswer(answer, ({ body, etag }) => ({ resource: body.source, etag }));
  }

  async function update(
    params: SourcePlace,
    { source, etag }: { readonly source: KeptSource; readonly etag: string },
    signal?: AbortSignal,
  ): Promise<Answer<KeptSource>> {
    const input = { params, body: { source: { ...source, id: params.sourceId } } };
    return mapAnswer(await client.call(writeSource, input, { ifMatch: etag, signal }), sourceOf);
  }

  return {
    async list(collectorId: number, signal?: AbortSignal): Promise<Answer<readonly ListedSource[]>> {
      return client.rowsOf(await client.call(pageSources, { params: { collectorId } }, { signal }));
    },

    /** All sources of a collector, as a document. */
    async downloadAll(collectorId: number, signal?: AbortSignal): Promise<Answer<SourceDocument>> {
      const input = { params: { collectorId }, query: { download: true } };
      return bodyOf(await client.call(downloadSources, input, { signal }));
    },

    get,

    /** One source, as a document. */
    async download(params: SourcePlace, signal?: AbortSignal): Promise<Answer<SourceDocument>> {
      const input = { params, query: { download: true } };
      return bodyOf(await client.call(downloadSource, input, { signal }));
    },

    /**
     * Creates a source. The service refuses this, like every change of sources, while the collector is in JSON mode.
     */
    async create(collectorId: number, draft: SourceDraft, signal?: AbortSignal) {
      const source = withoutServiceFields(draft, [...sourceAccess.notModifiable, ...sourceAccess.transient]);
      const input = { params: { collectorId }, body: { source } };
      return mapAnswer(await client.call(makeSource, input, { signal }), sourceOf);
    },

    /** Replaces the whole source. `etag` is that of the GET it is based on. */
    update,

    /** Reads, edits and writes a source; after a conflict once more. */
    change: (
      place: SourcePlace,
      edit: Edit<KeptSource>,
      { onConflict, signal }: ChangeOptions<KeptSource> = {},
    ) =>
      changeResource({
        access: sourceAccess,
        read: () => get(place, signal),
        write: (source, etag) => update(place, { source, etag }, signal),
        edit,
        onConflict,
      }),

    /**
     * Deletes a source. A cloud-to-cloud source stops first and is removed later: a `get` shows its progress
     * (collector-api.md §3).
     */
    async delete(params: SourcePlace, signal?: AbortSignal) {
      return mapAnswer(await client.call(deleteSource, { params }, { signal }), () => null);
    },
  };
}

const sourceOf = ({ body }: { readonly body: { readonly source: KeptSource } }) => body.source;
