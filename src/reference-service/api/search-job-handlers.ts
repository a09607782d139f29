import type { collectorManagementApi } from '../../contract/collector-management/api.ts';
import type { HttpRequest, OperationHandlers } from '../../http/operation-handlers.ts';
import { RefusedRequest } from '../scenario/refused-request.ts';
import type { Callers } from './callers.ts';
import { searchJobProgress } from './search-job-registry.ts';
import { searchRecords } from './search-records.ts';

/** The specification does not define the size of a page of results. */
const resultsPageSizeDefault = 100;

/** The Search Job interface (collector-api.md §4.5, §5.5). Its bodies are not specified. */
export function makeSearchJobHandlers(callers: Callers) {
  const readJob = (id: string, request: HttpRequest) => {
    const { account, ...followUp } = callers.of(request);
    const job = account.searchJobs.find(id, followUp);
    const progress = searchJobProgress(job, account.world.now());
    return {
      job,
      ...progress,
      records: progress.isDone ? searchRecords(account.world, job.request) : undefined,
    };
  };
  return {
    async createSearchJob({ body }, request) {
      if (body === undefined) {
        throw new RefusedRequest(400, 'service.body.invalid', 'a search job needs a JSON body');
      }
      const { account, sessionId } = callers.of(request);
      const createdAt = account.world.now();
      const { id } = account.searchJobs.create({ sessionId, createdAt, request: body });
      return { body: { id, link: { rel: 'self', href: `/v1/search/jobs/${id}` } } };
    },
    async getSearchJob({ params }, request) {
      const { job, state, resultCount, records } = readJob(params.searchJobId, request);
      const counts = { resultCount, messageCount: resultCount, recordCount: records?.length ?? 0 };
      return {
        body: { id: job.id, state, ...counts, pendingErrors: [], pendingWarnings: [], request: job.request },
      };
    },
    async listSearchJobResults({ params, query }, request) {
      const { resultCount, records } = readJob(params.searchJobId, request);
      const { offset = 0, limit = resultsPageSizeDefault } = query;
      const made = Array.from({ length: resultCount }, (_none, row) => ({ row: String(row) }));
      const rows = (params.results === 'records' ? records : undefined) ?? made;
      const page = rows.slice(offset, offset + limit).map((map) => ({ map }));
      return { body: { offset, count: page.length, [params.results]: page } };
    },
    async deleteSearchJob({ params: { searchJobId } }, request) {
      const { account, ...followUp } = callers.of(request);
      account.searchJobs.delete(searchJobId, followUp);
      return { body: { id: searchJobId } };
    },
  } satisfies Partial<OperationHandlers<typeof collectorManagementApi>>;
}
