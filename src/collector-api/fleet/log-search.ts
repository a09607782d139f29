import type { Clock, DurationMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import {
  SearchJobCreated,
  SearchJobRecords,
  SearchJobState,
  searchJobDone,
  searchJobRuns,
} from '../../contract/collector-management/search-job-bodies.ts';
import {
  createSearchJob,
  getSearchJob,
  listSearchJobResults,
} from '../../contract/collector-management/search-jobs.ts';
import type { LogAnswer, LogQuestion, LogRecord, LogSearch } from '../../orchestrator/ports/log-search.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';
import { isRefusedWith } from '../wire/client-refusals.ts';
import type { ServiceClient } from '../wire/service-client.ts';

interface LogSearchParts {
  readonly client: Pick<ServiceClient, 'call'>;
  readonly clock: Clock;
  readonly sleep: Sleep;
}

// A job that nobody asks about for some 30 s is given up by the service.
const pollEveryMs: DurationMs = 5_000;
// A count over minutes takes seconds; a service that takes longer is asked again with a new job.
const gathersMaxMs: DurationMs = 5 * 60_000;

const pageSize = 10_000;
// As many as an account can have collectors, ten times over.
const recordsMax = 100_000;

// Behind creates and checks of ends: a wave that soaks has time.
const budgetClass = 'poll';

/** Search jobs behind the port that gates know: create, poll until it is done, read the records. */
export function makeLogSearch(parts: LogSearchParts): LogSearch {
  return {
    run: async (question, signal) => {
      const searchJobId = await createJob(parts, question, signal);
      if (typeof searchJobId !== 'string') return searchJobId;
      const count = await gather(parts, searchJobId, signal);
      if (typeof count !== 'number') return count;
      if (count > recordsMax) return { kind: 'tooMany', recordsMax };
      return await readRecords(parts, { searchJobId, count }, signal);
    },
  };
}

/** @returns its id, or why there is none */
async function createJob(
  { client }: LogSearchParts,
  { query, from, to }: LogQuestion,
  signal: AbortSignal,
): Promise<string | LogAnswer> {
  const body = {
    query,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    timeZone: 'UTC',
    byReceiptTime: true,
  };
  const answer = await client.call(createSearchJob, { body }, { budgetClass, signal });
  if (!answer.ok) return failed(answer.failure);
  const job = SearchJobCreated.safeParse(answer.value.body);
  return job.success ? job.data.id : { kind: 'unreadable' };
}

/** @returns how many records there are, or why that is not known */
async function gather(
  { client, clock, sleep }: LogSearchParts,
  searchJobId: string,
  signal: AbortSignal,
): Promise<number | LogAnswer> {
  const giveUpAt = clock.now() + gathersMaxMs;
  while (clock.now() < giveUpAt) {
    await sleep(pollEveryMs, signal);
    const answer = await client.call(getSearchJob, { params: { searchJobId } }, { budgetClass, signal });
    if (!answer.ok) return failed(answer.failure);
    const read = SearchJobState.safeParse(answer.value.body);
    if (!read.success) return { kind: 'unreadable' };
    const { state, recordCount, pendingErrors } = read.data;
    if (pendingErrors.length > 0) return { kind: 'partial', errors: pendingErrors };
    if (state === searchJobDone) return recordCount;
    if (!searchJobRuns.has(state)) return { kind: 'ended', state };
  }
  return { kind: 'unfinished' };
}

async function readRecords(
  { client }: LogSearchParts,
  { searchJobId, count }: { readonly searchJobId: string; readonly count: number },
  signal: AbortSignal,
): Promise<LogAnswer> {
  const records: LogRecord[] = [];
  while (records.length < count) {
    const answer = await client.call(
      listSearchJobResults,
      { params: { searchJobId, results: 'records' }, query: { offset: records.length, limit: pageSize } },
      { budgetClass, signal },
    );
    if (!answer.ok) return failed(answer.failure);
    const read = SearchJobRecords.safeParse(answer.value.body);
    // A page without a row would be asked for again and again.
    if (!read.success || read.data.records.length === 0) return { kind: 'unreadable' };
    records.push(...read.data.records.map(({ map }) => map));
  }
  return { kind: 'records', records };
}

function failed(failure: ServiceFailure): LogAnswer {
  if (isRefusedWith(failure, 'forbidden')) return { kind: 'forbidden' };
  return failure.kind === 'notFound' ? { kind: 'lost' } : { kind: 'failed', failure };
}
