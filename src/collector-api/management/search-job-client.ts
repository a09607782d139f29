import {
  createSearchJob,
  getSearchJob,
  listSearchJobResults,
} from '../../contract/collector-management/search-jobs.ts';
import { bodyOf, type RetryingClient } from './retrying-client.ts';

export interface SearchJobResultsRequest {
  readonly searchJobId: string;
  /** The last segment of the results path, which the interface does not name: see the service's own guide. */
  readonly results: string;
  readonly offset?: number;
  readonly limit?: number;
}

/**
 * Search jobs (collector-api.md §4.5). The service finds the server of a job by the cookie set at its creation, so a
 * job lives as long as the client that created it. Payloads are undocumented, and passed through.
 */
export function makeSearchJobClient(client: RetryingClient) {
  return {
    create: async (body: unknown, signal?: AbortSignal) =>
      bodyOf(await client.call(createSearchJob, { body }, { signal })),

    get: async (searchJobId: string, signal?: AbortSignal) =>
      bodyOf(await client.call(getSearchJob, { params: { searchJobId } }, { signal })),

    listResults: async ({ searchJobId, results, ...query }: SearchJobResultsRequest, signal?: AbortSignal) =>
      bodyOf(
        await client.call(listSearchJobResults, { params: { searchJobId, results }, query }, { signal }),
      ),
  };
}
