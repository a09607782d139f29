import type { collectorManagementApi } from '../../contract/collector-management/api.ts';
import type { OperationHandlers } from '../../http/operation-handlers.ts';
import { ServiceFailure } from '../scenario/service-failure.ts';
import type { Callers } from './callers.ts';
import { searchJobProgress } from './search-jobs.ts';
import { searchRecords } from './search-records.ts';

/** The specification does not define the size of a page of results. */
const resultsPageSizeDefault = 100;

/** The Search Job interface (collector-api.md §4.5, §5.5). Its bodies are not specified. */
export function makeSearchJobHandlers(callers: Callers) {
  return {
    async createSearchJob({ body }, request) {
      if (body === undefined) {
        throw new ServiceFailure(400, 'service.body.invalid', 'a search job needs a JSON body');
      }
      const { account, sessionId } = callers.of(request);
      const createdAt = account.world.now();
      const { id } = account.searchJobs.create({ sessionId, createdAt, request: body });
      return { body: { id, link: { rel: 'self', href: `/v1/search/jobs/${id}` } } };
    },
    async getSearchJob({ params }, request) {
      const { account, ...followUp } = callers.of(request);
      const job = account.searchJobs.find(params.searchJobId, followUp);
      const progress = searchJobProgress(job, account.world.now());
      const records = progress.isDone ? searchRecords(account.world, job.request) : undefined;
      const { state, resultCount } = progress;
      const counts = { resultCount, messageCount: resultCount, recordCount: records?.length ?? 0 };
      return {
        body: { id: job.id, state, ...counts, pendingErrors: [], pendingWarnings: [], request: job.request },
      };
    },
    async listSearchJobResults({ params, query }, request) {
      const { account, ...followUp } = callers.of(request);
      const job = account.searchJobs.find(params.searchJobId, followUp);
      const { resultCount, isDone } = searchJobProgress(job, account.world.now());
      const offset = query.offset ?? 0;
      const records =
        isDone && params.results === 'records' ? searchRecords(account.world, job.request) : undefined;
      if (records !== undefined) {
        const page = records.slice(offset, offset + (query.limit ?? resultsPageSizeDefault));
        return { body: { offset, count: page.length, records: page.map((map) => ({ map })) } };
      }
      const count = Math.max(0, Math.min(query.limit ?? resultsPageSizeDefault, resultCount - offset));
      const rows = Array.from({ length: count }, (_none, index) => ({
        map: { row: String(offset + index) },
      }));
      return { body: { offset, count, [params.results]: rows } };
    },
  } satisfies Partial<OperationHandlers<typeof collectorManagementApi>>;
}
