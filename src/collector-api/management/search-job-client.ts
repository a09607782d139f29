import {
  createSearchJob,
  getSearchJob,
  listSearchJobResults,
} from '../../contract/collector-management/search-jobs.ts';
import { type Answer, mapAnswer } from '../../orchestrator/ports/fleet-service.ts';
import type { ServedAnswer } from '../wire/service-call.ts';
import type { RetryingClient } from './retrying-client.ts';

export interface SearchJobResultsRequest {
  readonly searchJobId: string;
  /** The last segment of the results path, which the interface does not name: as the service's own guide has it. */
  readonly results: string;
  readonly offset?: number;
  readonly limit?: number;
}

/**
 * Search jobs (collector-api.md §4.5). The service finds the server of a job by the cookie that its creation set, so a job
 * lives as long as the client that created it. Payloads are not documented: they pass as they are.
 */
export interface SearchJobClient {
  create(request: unknown, signal?: AbortSignal): Promise<Answer<unknown>>;
  get(searchJobId: string, signal?: AbortSignal): Promise<Answer<unknown>>;
  listResults(request: SearchJobResultsRequest, signal?: AbortSignal): Promise<Answer<unknown>>;
}

export function makeSearchJobClient(client: RetryingClient): SearchJobClient {
  return {
    create: async (body, signal) => bodyOf(await client.call(createSearchJob, { body }, { signal })),

    get: async (searchJobId, signal) =>
      bodyOf(await client.call(getSearchJob, { params: { searchJobId } }, { signal })),

    listResults: async ({ searchJobId, results, ...query }, signal) =>
      bodyOf(
        await client.call(listSearchJobResults, { params: { searchJobId, results }, query }, { signal }),
      ),
  };
}

function bodyOf(answer: ServedAnswer<unknown>): Answer<unknown> {
  return mapAnswer(answer, ({ body }) => body);
}
