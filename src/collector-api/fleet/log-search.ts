import type { Clock, DurationMs } from '../../base/time.ts';
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
  readonly sleep: (durationMs: DurationMs, signal?: AbortSignal) => Promise<void>;
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

type Step<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly answer: LogAnswer };

/** Search jobs behind the port that gates know: create, poll until it is done, read the records. */
export function makeLogSearch(parts: LogSearchParts): LogSearch {
  return {
    run: async (question, signal) => {
      const created = await createJob(parts, question, signal);
      if (!created.ok) return created.answer;
      const records = await gather(parts, created.value, signal);
      if (!records.ok) return records.answer;
      if (records.value > recordsMax) return { kind: 'tooMany', recordsMax };
      return await readRecords(parts, { searchJobId: created.value, count: records.value }, signal);
    },
  };
}

async function createJob(
  { client }: LogSearchParts,
  { query, from, to }: LogQuestion,
  signal: AbortSignal,
): Promise<Step<string>> {
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
  return job.success ? { ok: true, value: job.data.id } : { ok: false, answer: { kind: 'unreadable' } };
}

/** @returns how many records there are */
async function gather(
  { client, clock, sleep }: LogSearchParts,
  searchJobId: string,
  signal: AbortSignal,
): Promise<Step<number>> {
  const giveUpAt = clock.now() + gathersMaxMs;
  while (clock.now() < giveUpAt) {
    await sleep(pollEveryMs, signal);
    const answer = await client.call(getSearchJob, { params: { searchJobId } }, { budgetClass, signal });
    if (!answer.ok) return failed(answer.failure);
    const read = SearchJobState.safeParse(answer.value.body);
    if (!read.success) return { ok: false, answer: { kind: 'unreadable' } };
    const { state, recordCount, pendingErrors } = read.data;
    if (pendingErrors.length > 0) return { ok: false, answer: { kind: 'partial', errors: pendingErrors } };
    if (state === searchJobDone) return { ok: true, value: recordCount };
    if (!searchJobRuns.has(state)) return { ok: false, answer: { kind: 'ended', state } };
  }
  return { ok: false, answer: { kind: 'unfinished' } };
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
    if (!answer.ok) return failed(answer.failure).answer;
    const read = SearchJobRecords.safeParse(answer.value.body);
    // A page without a row would be asked for again and again.
    if (!read.success || read.data.records.length === 0) return { kind: 'unreadable' };
    records.push(...read.data.records.map(({ map }) => map));
  }
  return { kind: 'records', records };
}

function failed(failure: ServiceFailure): { readonly ok: false; readonly answer: LogAnswer } {
  if (isRefusedWith(failure, 'forbidden')) return { ok: false, answer: { kind: 'forbidden' } };
  if (failure.kind === 'notFound') return { ok: false, answer: { kind: 'lost' } };
  return { ok: false, answer: { kind: 'failed', failure } };
}
