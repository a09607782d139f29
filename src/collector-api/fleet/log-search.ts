import type { Clock, DurationMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import {
  SearchJobCreated,
  SearchJobRecords,
  SearchJobState,
  searchJobDone,
  searchJobRunning,
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

// The service cancels a job that is not polled for about 30 s.
const pollEveryMs: DurationMs = 5_000;
// A count over minutes takes seconds. After this time a new job is created.
const gatherMaxMs: DurationMs = 5 * 60_000;

const pageSize = 10_000;
// Ten times the maximum number of collectors in an account.
const recordsMax = 100_000;

// After creates and verifications: a soaking wave can wait.
const budgetClass = 'poll';

/** Search jobs as the port of gates: create a job, poll it until it is done, read the records. */
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

/** @returns the number of records, or why it is unknown */
async function gather(
  { client, clock, sleep }: LogSearchParts,
  searchJobId: string,
  signal: AbortSignal,
): Promise<number | LogAnswer> {
  const giveUpAt = clock.now() + gatherMaxMs;
  while (clock.now() < giveUpAt) {
    await sleep(pollEveryMs, signal);
    const answer = await client.call(getSearchJob, { params: { searchJobId } }, { budgetClass, signal });
    if (!answer.ok) return failed(answer.failure);
    const read = SearchJobState.safeParse(answer.value.body);
    if (!read.success) return { kind: 'unreadable' };
    const { state, recordCount, pendingErrors } = read.data;
    if (pendingErrors.length > 0) return { kind: 'partial', errors: pendingErrors };
    if (state === searchJobDone) return recordCount;
    if (!searchJobRunning.has(state)) return { kind: 'ended', state };
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
    // A page without rows would be requested again for ever.
    if (!read.success || read.data.records.length === 0) return { kind: 'unreadable' };
    records.push(...read.data.records.map(({ map }) => map));
  }
  return { kind: 'records', records };
}

function failed(failure: ServiceFailure): LogAnswer {
  if (isRefusedWith(failure, 'forbidden')) return { kind: 'forbidden' };
  return failure.kind === 'notFound' ? { kind: 'lost' } : { kind: 'failed', failure };
}
